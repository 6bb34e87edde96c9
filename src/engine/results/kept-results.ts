import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { heldId, splitHeldId, type PrincipalId } from "../../kernel/ids.ts";
import type { SpillStore } from "../../store/store.ts";
import type { KeptText } from "./kept-page.ts";
import type { Segment } from "./said-text.ts";

/**
 * What was cut off results, for as long as somebody may want to read on. Each belongs to the principal whose result it
 * was; to everybody else its id means nothing.
 */
export interface KeptResults extends AsyncDisposable {
  /** Returns the id that it is read by: 22 characters, not to be guessed, behind the name of a cluster's node. */
  keep(principal: PrincipalId, kept: KeptText): string;
  /** Undefined when it is not there any more, never was, or is somebody else's. */
  read(principal: PrincipalId, id: string): Promise<KeptText | undefined>;
  /**
   * Gives texts to another node, one after the other: the newest, 64 MB at most, each once. They can still be read
   * here.
   */
  giveAway(give: (about: GivenText, bytes: Buffer) => Promise<void>): Promise<void>;
  /** Keeps what another node gave, under its id. */
  take(given: GivenText, bytes: Buffer): void;
  readonly figures: KeptFigures;
}

/** A kept text that another node is to keep from now on, without its bytes. JSON values only. */
export interface GivenText extends Pick<KeptEntry, "id" | "principal" | "kept"> {
  readonly leftMs: number;
}

export interface KeptFigures {
  readonly results: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

export interface KeptResultsDeps {
  readonly files: SpillStore;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly limits: () => KeptLimits;
  /** This node of a cluster; undefined where the gateway is alone. */
  readonly node?: () => string | undefined;
}

export interface KeptLimits extends RoomLimits {
  readonly keepMs: number;
}

/** What the place of a part, or of a block, takes beside the text. */
const bytesOfPlaces = 64;
/** A node that stops does not wait long for this. */
const mostGivenBytes = 64 * 1024 ** 2;

export function createKeptResults({ files, clock, limits, node }: KeptResultsDeps): KeptResults {
  const table = createKeptTable(files, limits);
  let cancelSweep: (() => void) | undefined;

  /** All have the same lifetime, so the oldest ends first. */
  function sweep(): void {
    cancelSweep?.();
    cancelSweep = undefined;
    const now = clock.monotonic();
    for (const entry of table.entries()) {
      if (entry.untilMs > now) {
        cancelSweep = clock.after(entry.untilMs - now, sweep);
        return;
      }
      table.forget(entry);
    }
  }

  function take({ id, principal, kept, leftMs }: GivenText, text: Buffer): void {
    const untilMs = clock.monotonic() + leftMs;
    const bytes = text.length + bytesOfPlaces * (kept.starts.length + kept.segments.length);
    table.add({ id, principal, kept, bytes, untilMs, text, writing: undefined, isGiven: false });
    if (cancelSweep === undefined) sweep();
  }

  return {
    keep(principal, { said: { bytes, segments }, ...kept }) {
      const id = randomBytes(16).toString("base64url");
      // A copy: the result that it is a part of may have many images beside it, and its memory is used again.
      take({ id, principal, kept: { ...kept, segments }, leftMs: limits().keepMs }, Buffer.from(bytes));
      return heldId(node?.(), id);
    },
    take,
    async giveAway(give) {
      let left = mostGivenBytes;
      for (const entry of [...table.entries()].toReversed()) {
        left -= entry.isGiven ? 0 : entry.bytes;
        if (left < 0) return;
        const bytes = entry.isGiven ? undefined : (entry.text ?? (await files.read(entry.id)));
        if (bytes === undefined) continue;
        entry.isGiven = true;
        const { id, principal, kept, untilMs } = entry;
        await give({ id, principal, kept, leftMs: untilMs - clock.monotonic() }, bytes);
      }
    },
    async read(principal, id) {
      const entry = table.get(splitHeldId(id).own);
      if (entry?.principal !== principal || entry.untilMs <= clock.monotonic()) return undefined;
      const bytes = entry.text ?? (await files.read(entry.id));
      if (bytes === undefined) return undefined;
      const { segments, ...kept } = entry.kept;
      return { ...kept, said: { bytes, segments } };
    },
    get figures() {
      return { results: table.size, memoryBytes: table.memoryBytes, diskBytes: table.diskBytes };
    },
    async [Symbol.asyncDispose]() {
      cancelSweep?.();
      await table.clear();
      await files[Symbol.asyncDispose]();
    },
  };
}

/** One kept text: in memory, or in its file. */
export interface KeptEntry {
  readonly id: string;
  readonly principal: PrincipalId;
  /** All of it but the bytes. */
  readonly kept: Omit<KeptText, "said"> & { readonly segments: readonly Segment[] };
  readonly bytes: number;
  readonly untilMs: number;
  /** Undefined once it is in its file. */
  text: Buffer | undefined;
  /** While it is being written. */
  writing: Promise<void> | undefined;
  /** Whether another node has it as well. */
  isGiven: boolean;
}

interface RoomLimits {
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

/** Kept texts within the memory and the disk that they may take, from the oldest to the newest. */
export interface KeptTable {
  add(entry: KeptEntry): void;
  get(id: string): KeptEntry | undefined;
  forget(entry: KeptEntry): void;
  entries(): Iterable<KeptEntry>;
  readonly size: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Forgets all. Resolves when nothing is written any more. */
  clear(): Promise<void>;
}

/** Small texts of a server with a small budget: the table itself must have an end too. */
const mostKept = 10_000;

function createKeptTable(files: SpillStore, limits: () => RoomLimits): KeptTable {
  const entries = new Map<string, KeptEntry>();
  let memoryBytes = 0;
  let diskBytes = 0;

  function forget(entry: KeptEntry): void {
    if (!entries.delete(entry.id)) return;
    if (entry.text === undefined) diskBytes -= entry.bytes;
    else memoryBytes -= entry.bytes;
    entry.text = undefined;
    if (entry.writing === undefined) files.remove(entry.id);
    else void entry.writing.finally(() => files.remove(entry.id));
  }

  function makeRoom(): void {
    const { memoryBytes: mostMemory, diskBytes: mostDisk } = limits();
    while (entries.size > mostKept || memoryBytes + diskBytes > mostMemory + mostDisk) {
      const oldest = oldestOfLargest(entries.values());
      if (oldest === undefined) return;
      forget(oldest);
    }
    let excess = memoryBytes - mostMemory;
    for (const entry of entries.values()) {
      if (excess <= 0) return;
      if (entry.text === undefined) continue;
      excess -= entry.bytes;
      entry.writing ??= spill(entry, entry.text);
    }
  }

  /** A text that cannot be written is not kept: memory has no room for it. */
  async function spill(entry: KeptEntry, text: Buffer): Promise<void> {
    try {
      await files.write(entry.id, text);
    } catch {
      forget(entry);
    }
    entry.writing = undefined;
    if (!entries.has(entry.id)) return;
    entry.text = undefined;
    memoryBytes -= entry.bytes;
    diskBytes += entry.bytes;
  }

  return {
    add(entry) {
      entries.set(entry.id, entry);
      memoryBytes += entry.bytes;
      makeRoom();
    },
    get: (id) => entries.get(id),
    forget,
    entries: () => entries.values(),
    get size() {
      return entries.size;
    },
    get memoryBytes() {
      return memoryBytes;
    },
    get diskBytes() {
      return diskBytes;
    },
    async clear() {
      const writing = [...entries.values()].flatMap((entry) => entry.writing ?? []);
      entries.clear();
      await Promise.allSettled(writing);
    },
  };
}

/** The principal that keeps most makes room, so that no one pushes out entries of others. */
function oldestOfLargest(entries: Iterable<KeptEntry>): KeptEntry | undefined {
  const byPrincipal = new Map<PrincipalId, { readonly oldest: KeptEntry; bytes: number }>();
  for (const entry of entries) {
    const sum = byPrincipal.get(entry.principal);
    if (sum === undefined) byPrincipal.set(entry.principal, { oldest: entry, bytes: entry.bytes });
    else sum.bytes += entry.bytes;
  }
  let largest: { readonly oldest: KeptEntry; bytes: number } | undefined;
  for (const sum of byPrincipal.values()) if (largest === undefined || sum.bytes > largest.bytes) largest = sum;
  return largest?.oldest;
}
