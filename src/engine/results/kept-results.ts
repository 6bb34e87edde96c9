import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { SpillStore } from "../../store/store.ts";
import type { KeptText } from "./kept-page.ts";
import { createKeptTable, type RoomLimits } from "./kept-table.ts";

/**
 * What was cut off results, for as long as somebody may want to read on. Each belongs to the principal whose result it
 * was; to everybody else its id means nothing.
 */
export interface KeptResults extends AsyncDisposable {
  /** Returns the id that it is read by: 22 characters, not to be guessed. */
  keep(principal: PrincipalId, kept: KeptText): string;
  /** Undefined when it is not there any more, never was, or is somebody else's. */
  read(principal: PrincipalId, id: string): Promise<KeptText | undefined>;
  readonly figures: KeptFigures;
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
}

export interface KeptLimits extends RoomLimits {
  readonly keepMs: number;
}

/** What the place of a part, or of a block, takes beside the text. */
const bytesOfPlaces = 64;

export function createKeptResults({ files, clock, limits }: KeptResultsDeps): KeptResults {
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

  return {
    keep(principal, { said: { bytes, segments }, ...kept }) {
      const id = randomBytes(16).toString("base64url");
      const untilMs = clock.monotonic() + limits().keepMs;
      // A copy: the result that it is a part of may have many images beside it, and its memory is used again.
      const text = Buffer.from(bytes);
      const size = text.length + bytesOfPlaces * (kept.starts.length + segments.length);
      table.add({ id, principal, kept: { ...kept, segments }, bytes: size, untilMs, text, writing: undefined });
      if (cancelSweep === undefined) sweep();
      return id;
    },
    async read(principal, id) {
      const entry = table.get(id);
      if (entry?.principal !== principal || entry.untilMs <= clock.monotonic()) return undefined;
      const bytes = entry.text ?? (await files.read(id));
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
