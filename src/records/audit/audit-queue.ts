import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import type { RecordStore } from "../../store/record-store.ts";

/** Entries that wait to be written, in order, several in one transaction. */
export interface AuditQueue {
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

export type EntryStore = Pick<RecordStore, "auditAll">;

export interface WaitingEntry {
  readonly entry: AuditEntry;
  /** Absent for an entry without a waiting caller. */
  readonly writer?: { readonly resolve: (seq: number) => void; readonly reject: (error: GatewayError) => void };
}

export interface AuditQueueLimits {
  /** Entries that wait: what happens in a start with many servers, or within minutes of a full disk. */
  readonly waiting: number;
  /** Entries in one transaction. */
  readonly atOnce: number;
  /** Between two tries while the store cannot be used. */
  readonly retryMs: number;
}

export interface AuditQueueDeps {
  readonly clock: Pick<Clock, "after">;
  readonly limits: AuditQueueLimits;
  /** The entry that says how many are lost, for the time when entries can be written again. */
  readonly toLost: (entries: number) => AuditEntry;
}

export function createAuditQueue({ clock, limits, toLost }: AuditQueueDeps): AuditQueue {
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
