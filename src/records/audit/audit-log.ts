import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import { createAuditQueue, type AuditQueueLimits, type EntryStore } from "./audit-queue.ts";

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
