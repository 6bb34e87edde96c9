import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import type { RecordStore } from "../../store/record-store.ts";

/** A person's action, as the parts of the gateway report it. Absent members become null, "" or `ok`. */
export interface AuditFacts {
  readonly actor: string;
  readonly via: string;
  readonly action: string;
  readonly object?: string;
  readonly team?: string | null;
  readonly outcome?: AuditEntry["outcome"];
  readonly ip?: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * The entries of the audit on their way to the store, in the order in which they were told. The store is loaded after
 * the gateway answers; until then they wait.
 */
export interface AuditLog {
  /**
   * Hands an entry over; returns at once and never throws. It is tried until it is written, unless too many wait: those
   * are counted, and an entry says how many there were when the store works again.
   */
  note(facts: AuditFacts): void;
  /**
   * Resolves with its place in the chain when it is on the disk. Rejects, and tries no more, with STORE_FULL,
   * STORE_UNAVAILABLE or DRAINING.
   */
  write(facts: AuditFacts): Promise<number>;
  /** Whether there is a store, so that no caller waits long. */
  readonly isOpen: boolean;
  /** Entries that are lost for good. */
  readonly lost: number;
  /** From now on entries go to this store, those that waited first. */
  open(store: EntryStore): void;
  /** There will be no store. */
  fail(why: GatewayError): void;
  /** Resolves when nothing waits any more, or after `deadlineMs`. Entries after that are refused, or lost. */
  close(deadlineMs: number): Promise<void>;
}

export interface AuditLogDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly limits?: Partial<AuditLogLimits>;
}

export interface AuditLogLimits extends AuditQueueLimits {
  /** For how long `write` waits for a store that is still being opened. */
  readonly openMs: number;
}

const defaultLimits: AuditLogLimits = { waiting: 5_000, atOnce: 200, retryMs: 1_000, openMs: 10_000 };

/** Texts of clients, such as the URI of a resource, have no limit of their own. */
const longestText = 2_000;

export function createAuditLog({ clock, redact, ...given }: AuditLogDeps): AuditLog {
  const limits = { ...defaultLimits, ...given.limits };
  const queue = createAuditQueue({
    clock,
    limits,
    toLost: (entries) =>
      toEntry({ actor: "gateway", via: "gateway", action: "audit.lost", outcome: "failed", detail: { entries } }),
  });

  function toEntry({ actor, via, action, object = "", outcome = "ok", ...facts }: AuditFacts): AuditEntry {
    const { team = null, ip = null, detail = {} } = facts;
    const shown = redact(object).slice(0, longestText);
    return { atMs: clock.now(), actor, via, team, action, object: shown, outcome, ip, detail: toText(detail, redact) };
  }

  async function write(facts: AuditFacts): Promise<number> {
    let stopWaiting = (): void => undefined;
    try {
      return await new Promise<number>((resolve, reject) => {
        if (!queue.isOpen) stopWaiting = clock.after(limits.openMs, () => reject(stillOpening()));
        queue.add({ entry: toEntry(facts), writer: { resolve, reject } });
      });
    } finally {
      stopWaiting();
    }
  }

  return {
    note: (facts) => queue.add({ entry: toEntry(facts) }),
    write,
    get isOpen() {
      return queue.isOpen;
    },
    get lost() {
      return queue.lost;
    },
    open: queue.open,
    fail: queue.end,
    async close(deadlineMs) {
      let cancel = (): void => undefined;
      const deadline = new Promise<void>((resolve) => (cancel = clock.after(deadlineMs, resolve)));
      await Promise.race([queue.settled(), deadline]);
      cancel();
      queue.end(new GatewayError("DRAINING", "the gateway stops, and its audit is closed"));
    },
  };
}

function toText(detail: Readonly<Record<string, unknown>>, redact: (text: string) => string): string {
  return JSON.stringify(detail, (_key, value: unknown) =>
    typeof value === "string" ? redact(value).slice(0, longestText) : value,
  );
}

function stillOpening(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "the store of records is still being opened");
}

/** Entries that wait to be written, in order, several in one transaction. */
interface AuditQueue {
  add(one: WaitingEntry): void;
  /** From now on entries go to this store, those that waited first. */
  open(store: EntryStore): void;
  readonly isOpen: boolean;
  /** Entries without a waiting caller that are lost for good. */
  readonly lost: number;
  /** Resolves when nothing more can be written now. */
  settled(): Promise<void>;
  /** Refuses what waits, and what comes later. */
  end(why: GatewayError): void;
}

type EntryStore = Pick<RecordStore, "auditAll">;

interface WaitingEntry {
  readonly entry: AuditEntry;
  /** Absent for an entry without a waiting caller. */
  readonly writer?: { readonly resolve: (seq: number) => void; readonly reject: (error: GatewayError) => void };
}

interface AuditQueueLimits {
  /** Entries that wait: what happens in a start with many servers, or within minutes of a full disk. */
  readonly waiting: number;
  /** Entries in one transaction. */
  readonly atOnce: number;
  /** Between two tries while the store cannot be used. */
  readonly retryMs: number;
}

interface AuditQueueDeps {
  readonly clock: Pick<Clock, "after">;
  readonly limits: AuditQueueLimits;
  /** The entry that says how many are lost, for the time when entries can be written again. */
  readonly toLost: (entries: number) => AuditEntry;
}

function createAuditQueue({ clock, limits, toLost }: AuditQueueDeps): AuditQueue {
  let waiting: WaitingEntry[] = [];
  let store: EntryStore | undefined;
  /** Why nothing can be written any more. */
  let ended: GatewayError | undefined;
  let writing: Promise<void> | undefined;
  let cancelRetry: (() => void) | undefined;
  let lost = 0;
  /** Lost entries that no entry has told of. */
  let untold = 0;

  function lose(count: number): void {
    lost += count;
    untold += count;
  }

  function wake(): void {
    if (store === undefined || writing !== undefined) return;
    cancelRetry?.();
    cancelRetry = undefined;
    writing = writeAll(store).finally(() => {
      writing = undefined;
      // Something may have come after the last look.
      if (waiting.length > 0 && cancelRetry === undefined) wake();
    });
  }

  async function writeAll(to: EntryStore): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limits.atOnce);
      try {
        const places = await to.auditAll(batch.map(({ entry }) => entry));
        batch.forEach(({ writer }, at) => writer?.resolve(places[at]?.seq ?? 0));
      } catch (error) {
        refuseAll(batch, toGatewayError(error));
        return;
      }
      if (untold > 0) waiting.push({ entry: toLost(untold) });
      untold = 0;
    }
  }

  /** Callers do not wait for a store that cannot write; entries without a waiting caller are kept, and tried again. */
  function refuseAll(batch: readonly WaitingEntry[], failure: GatewayError): void {
    const all = [...batch, ...waiting];
    const kept = all.filter(({ writer }) => writer === undefined);
    for (const { writer } of all) writer?.reject(failure);
    const mayRecover = failure.code === "STORE_FULL" || failure.code === "STORE_UNAVAILABLE";
    const isKept = mayRecover && ended === undefined;
    waiting = isKept ? kept : [];
    if (!isKept) lose(kept.length);
    else if (kept.length > 0) cancelRetry = clock.after(limits.retryMs, wake);
  }

  return {
    add(one) {
      const refusal = ended ?? (waiting.length < limits.waiting ? undefined : tooMany());
      if (refusal === undefined) {
        waiting.push(one);
        // One that somebody waits for is tried now, with all that came before it.
        if (one.writer !== undefined || cancelRetry === undefined) wake();
      } else if (one.writer === undefined) lose(1);
      else one.writer.reject(refusal);
    },
    open(opened) {
      store = opened;
      wake();
    },
    get isOpen() {
      return store !== undefined;
    },
    get lost() {
      return lost;
    },
    async settled() {
      wake();
      await writing;
    },
    end(why) {
      ended ??= why;
      cancelRetry?.();
      const left = waiting;
      waiting = [];
      lose(left.filter(({ writer }) => writer === undefined).length);
      for (const { writer } of left) writer?.reject(ended);
    },
  };
}

function tooMany(): GatewayError {
  return new GatewayError("STORE_UNAVAILABLE", "too many entries wait for the audit");
}
