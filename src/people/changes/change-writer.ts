import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { createReadingAgain } from "../../kernel/runtime/reading-again.ts";
import type { AuditEntry } from "../../store/record-rows.ts";

/** What the audit says of a change. */
export interface ChangeFacts {
  readonly action: string;
  readonly object: string;
  /** The slug of the team; absent for what belongs to none. */
  readonly team?: string | null | undefined;
  /** Beyond the object; no secrets. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly outcome?: AuditEntry["outcome"];
}

/** Who makes a change: the id of a principal, or `owner`, and which way it came. */
export interface ChangeMaker {
  readonly id: string;
  readonly via: string;
  readonly ip?: string | null;
}

/** A change that has been decided, and what its maker is answered when it is in force. */
export interface PlannedChange<Writes, Result> extends ChangeFacts {
  readonly writes: Writes;
  /** The person who was created by the change and has made it, if that is so. */
  readonly actor?: string;
  readonly result: Result;
}

export interface ChangeWriterDeps<Writes, Planned extends PlannedChange<Writes, unknown>> {
  readonly clock: Pick<Clock, "now">;
  /** Reads everything and applies the differences. */
  readonly readAll: () => Promise<void>;
  /** Writes the change together with its entry in the audit: both of them, or neither. */
  readonly write: (planned: Planned, entry: AuditEntry) => Promise<unknown>;
  /** Puts into force what has been written. */
  readonly apply: (writes: Writes) => Promise<void> | void;
  /** After STORE_BEHIND: whether what the others wrote is in force. Without it, everything is read. */
  readonly isTold?: () => boolean;
}

export interface ChangeWriter<Planned> {
  /** Resolves when the change is on the disk and in force. Rejects with what `plan` throws, and as the store does. */
  change<Its extends Planned>(by: ChangeMaker, plan: () => Its | Promise<Its>): Promise<Its>;
  /** Reads everything when it is its turn; `then` runs before the next change. */
  readInTurn(then: () => Promise<void>): Promise<void>;
}

/** Of gateways that change the same at the same moment, one gets past the others with each attempt. */
const mostAttempts = 100;

/** Carries changes out one after the other: each is planned with what the one before it left. */
export function createChangeWriter<Writes, Planned extends PlannedChange<Writes, unknown>>(
  deps: ChangeWriterDeps<Writes, Planned>,
): ChangeWriter<Planned> {
  const { clock, readAll, write, apply } = deps;
  let last: Promise<unknown> = Promise.resolve();
  let isUncertain = false;

  async function attempt<Its extends Planned>(by: ChangeMaker, plan: () => Its | Promise<Its>): Promise<Its> {
    // The one before may have been written although that was not confirmed.
    if (isUncertain) await readAll();
    isUncertain = false;
    const given = plan();
    // Without a pause where none is needed: in it, what another gateway wrote could be applied, unknown to the plan.
    const planned = given instanceof Promise ? await given : given;
    isUncertain = true;
    await write(planned, toAuditEntry({ actor: by.id, via: by.via, ip: by.ip ?? null, ...planned }, clock.now()));
    isUncertain = false;
    await apply(planned.writes);
    return planned;
  }

  /** With what another gateway wrote meanwhile, the change is planned again. */
  async function insist<Its extends Planned>(by: ChangeMaker, plan: () => Its | Promise<Its>): Promise<Its> {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt(by, plan);
      } catch (error) {
        const isBehind = error instanceof GatewayError && error.code === "STORE_BEHIND";
        if (!isBehind || count === mostAttempts) throw error;
        // Nothing was written.
        isUncertain = deps.isTold?.() !== true;
      }
    }
  }

  return {
    async change(by, plan) {
      const mine = last.then(async () => await insist(by, plan));
      last = mine.catch(() => undefined);
      return await mine;
    },
    async readInTurn(then) {
      const mine = last.then(async () => {
        await readAll();
        await then();
      });
      last = mine.catch(() => (isUncertain = true));
      await mine;
    },
  };
}

/** The entry of the audit for a change. */
export function toAuditEntry(
  {
    actor,
    via,
    ip,
    team = null,
    action,
    object,
    outcome = "ok",
    detail = {},
  }: ChangeFacts & Pick<AuditEntry, "actor" | "via" | "ip">,
  atMs: number,
): AuditEntry {
  return { atMs, actor, via, team, action, object, outcome, ip, detail: JSON.stringify(detail) };
}

export interface FollowOptions<Writes> {
  readonly store: { onChange(listener: (writes?: Writes) => void): () => void };
  readonly clock: Pick<Clock, "after">;
  /** Applies what another gateway wrote. Throws where that refers to something that is not known here. */
  readonly apply: (writes: Writes) => void;
  /** Reads everything and applies the differences: where it is not told what was written. */
  readonly readAll: () => Promise<void>;
  /** It cannot be read, and is tried again. */
  readonly onFailed: (error: unknown) => void;
}

/** What other gateways of the same database change is in force here as well. Returns what ends that. */
export function followOthers<Writes>(options: FollowOptions<Writes>): () => void {
  const { store, clock, apply, readAll, onFailed } = options;
  const reading = createReadingAgain({ clock, read: readAll, onFailed });
  const stopListening = store.onChange((writes) => {
    if (writes === undefined) return reading.ask();
    try {
      apply(writes);
    } catch {
      reading.ask();
    }
  });
  return () => {
    stopListening();
    reading.stop();
  };
}
