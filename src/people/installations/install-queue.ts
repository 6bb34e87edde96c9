import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstallWrites } from "../../store/install-rows.ts";
import type { InstallStore } from "../../store/record-store.ts";
import { createChangeWriter, followOthers, type PlannedChange } from "../changes/change-writer.ts";
import type { InstallIndex, Touched } from "./install-index.ts";
import type { Actor } from "./install-rights.ts";
import type { InstalledServers } from "./installed-servers.ts";
import type { Vault } from "./vault.ts";

/** A change of teams' servers, planned. */
export type InstallPlan<Result> = PlannedChange<InstallWrites, Result>;

/** Plans and carries out changes, one after the other: each is planned with what the one before it left. */
export type CarryOut = <Result>(
  actor: Actor,
  plan: () => InstallPlan<Result> | Promise<InstallPlan<Result>>,
) => Promise<Result>;

export interface InstallQueueDeps {
  readonly store: InstallStore;
  readonly book: InstallIndex;
  readonly vault: Pick<Vault, "apply" | "differenceTo">;
  readonly servers: Pick<InstalledServers, "forget">;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Called when a change is on the disk, before its sender is answered. */
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

export function createInstallQueue(deps: InstallQueueDeps): InstallQueue {
  const { store, book, vault, servers, clock, onTouched, onFollowed } = deps;

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

  const writer = createChangeWriter<InstallWrites, InstallPlan<unknown>>({
    ...{ clock, readAll, apply },
    write: async ({ writes }, entry) => await store.change(writes, entry),
  });

  return {
    carryOut: async (actor, plan) => (await writer.change(actor, plan)).result,
    // What another gateway of the same database changed is in force before the next change is planned.
    stop: followOthers({
      ...{ store, clock, onFailed: deps.onBehind },
      // Never told what was written, which has secrets in it.
      apply: () => undefined,
      readAll: async () => await writer.readInTurn(onFollowed),
    }),
  };
}

/** Throws REVISION_MISMATCH when somebody changed it since. */
export function requireRevision(now: number, given: number | undefined): void {
  if (given !== undefined && given !== now)
    throw new GatewayError("REVISION_MISMATCH", `it has the revision ${now} now`, { data: { revision: now } });
}
