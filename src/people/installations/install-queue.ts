import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createReadingAgain } from "../../kernel/runtime/reading-again.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import type { InstallWrites } from "../../store/install-rows.ts";
import type { InstallStore } from "../../store/record-store.ts";
import type { InstallBook, Touched } from "./install-book.ts";
import type { Actor } from "./install-rights.ts";
import type { InstalledServers } from "./installed-servers.ts";
import type { Vault } from "./vault.ts";

/** A change, what it is called in the audit, and what comes of it. */
export interface InstallPlan<Result> {
  readonly writes: InstallWrites;
  readonly action: string;
  readonly object: string;
  /** The slug of the team; undefined for what belongs to none. */
  readonly team: string | undefined;
  readonly detail?: object | undefined;
  readonly result: Result;
}

/** Plans and carries out changes, one after the other: each is planned with what the one before it left. */
export type CarryOut = <Result>(
  actor: Actor,
  plan: () => InstallPlan<Result> | Promise<InstallPlan<Result>>,
) => Promise<Result>;

export interface InstallQueueDeps {
  readonly store: InstallStore;
  readonly book: InstallBook;
  readonly vault: Pick<Vault, "apply" | "differenceTo">;
  readonly servers: Pick<InstalledServers, "forget">;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Called when a change is on the disk, before whoever asked for it is answered. */
  readonly onTouched: (touched: Touched) => Promise<void>;
  /** Another gateway of the same database changed something, which is in force here now. */
  readonly onFollowed: () => Promise<void>;
  /** What another gateway changed cannot be read, and is tried again. */
  readonly onBehind: (error: unknown) => void;
}

export interface InstallQueue {
  readonly carryOut: CarryOut;
  /** Nothing that other gateways change is read any more. */
  stop(): void;
}

/** Gateways that change servers of teams at the same moment get past each other within these. */
const mostAttempts = 5;

export function createInstallQueue(deps: InstallQueueDeps): InstallQueue {
  const { store, book, vault, servers, clock, onTouched, onFollowed } = deps;
  let last: Promise<unknown> = Promise.resolve();
  let isUncertain = false;

  async function apply(writes: InstallWrites): Promise<void> {
    vault.apply(writes);
    const touched = book.apply(writes);
    servers.forget(
      touched.installations.map(({ id }) => id),
      touched.teams,
    );
    await onTouched(touched);
  }

  async function readAll(): Promise<void> {
    const rows = await store.read();
    await apply({ ...book.differenceTo(rows), ...vault.differenceTo(rows) });
  }

  async function carryOut<Result>(
    actor: Actor,
    plan: () => InstallPlan<Result> | Promise<InstallPlan<Result>>,
  ): Promise<Result> {
    // The one before may have been written although nobody said so.
    if (isUncertain) await readAll();
    isUncertain = false;
    const { writes, action, object, team = null, detail = {}, result } = await plan();
    const who: Pick<AuditEntry, "actor" | "via"> = { actor: actor.id, via: actor.via };
    const entry = { atMs: clock.now(), ...who, team, action, object, outcome: "ok" as const, ip: actor.ip ?? null };
    isUncertain = true;
    await store.change(writes, { ...entry, detail: JSON.stringify(detail) });
    isUncertain = false;
    await apply(writes);
    return result;
  }

  // What another gateway of the same database changed is in force before the next change is planned.
  const following = createReadingAgain({
    clock,
    async read() {
      const mine = last.then(async () => {
        await readAll();
        await onFollowed();
      });
      last = mine.catch(() => (isUncertain = true));
      await mine;
    },
    onFailed: deps.onBehind,
  });
  const stopListening = store.onChange(() => following.ask());

  /** What another gateway wrote meanwhile is read, and the change planned again. */
  async function insist<Result>(...given: Parameters<typeof carryOut<Result>>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await carryOut(...given);
      } catch (error) {
        const isBehind = error instanceof GatewayError && error.code === "STORE_BEHIND";
        if (!isBehind || attempt === mostAttempts) throw error;
      }
    }
  }

  return {
    async carryOut(actor, plan) {
      const mine = last.then(async () => await insist(actor, plan));
      last = mine.catch(() => undefined);
      return await mine;
    },
    stop() {
      stopListening();
      following.stop();
    },
  };
}

/** Throws REVISION_MISMATCH when somebody changed it since. */
export function requireRevision(now: number, given: number | undefined): void {
  if (given !== undefined && given !== now)
    throw new GatewayError("REVISION_MISMATCH", `it has the revision ${now} now`, { data: { revision: now } });
}
