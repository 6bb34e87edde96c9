import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { PasswordRow } from "../../store/access-rows.ts";
import type { PeopleWrites } from "../../store/people-rows.ts";
import type { PeopleStore } from "../../store/record-store.ts";
import type { TeamDirectory } from "./team-directory.ts";

/** Who makes a change. */
export interface ChangeActor {
  /** As the audit names it: the id of a principal, or `owner`. */
  readonly id: string;
  /** Which way it came. */
  readonly via: string;
  readonly ip: string | null;
  /** The user of the database; null for the owner, and for people of the configuration. */
  readonly user: string | null;
  /** Of those without a user: whether they run the gateway. Of a user, the database says it. */
  readonly isAdmin: boolean;
}

/** Whoever owns the data directory: may do everything. */
export const ownerActor: ChangeActor = Object.freeze({
  id: "owner",
  via: "owner",
  ip: null,
  user: null,
  isAdmin: true,
});

/** A change, what it is called in the audit, and what comes of it. */
export interface Plan<Result> {
  readonly writes: PeopleWrites;
  readonly action: string;
  readonly object: string;
  readonly team?: string | undefined;
  /** Beyond the object; no secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
  /** Where somebody comes into being by it who then has made it. */
  readonly actor?: string;
  /** Of users that come into being by it. */
  readonly passwords?: readonly PasswordRow[];
  /** The set-up link that it is done with. */
  readonly spentSetup?: string;
  readonly result: Result;
}

export type CarryOut = <Result>(by: ChangeActor, plan: () => Plan<Result>) => Promise<Result>;

export interface ChangeQueueDeps {
  readonly directory: Pick<TeamDirectory, "book" | "apply">;
  readonly store: PeopleStore;
  readonly clock: Pick<Clock, "now">;
}

/** Gateways that change people at the same moment get past each other within these. */
const mostAttempts = 5;

/** Carries changes out one after the other: each is planned with what the one before it left. */
export function createChangeQueue({ directory, store, clock }: ChangeQueueDeps): CarryOut {
  let last: Promise<unknown> = Promise.resolve();
  let isUncertain = false;

  async function carryOut<Result>(by: ChangeActor, plan: () => Plan<Result>): Promise<Result> {
    // The one before may have been written although nobody said so.
    if (isUncertain) directory.apply(directory.book.differenceTo(await store.read()));
    isUncertain = false;
    const { writes, action, object, team = null, detail = {}, actor = by.id, passwords, spentSetup, result } = plan();
    const about = { actor, via: by.via, team, action, object, outcome: "ok" as const, ip: by.ip };
    const access = { ...(passwords && { passwords }), ...(spentSetup !== undefined && { spentSetup }) };
    isUncertain = true;
    await store.change(writes, { atMs: clock.now(), ...about, detail: JSON.stringify(detail) }, access);
    isUncertain = false;
    directory.apply(writes);
    return result;
  }

  /** What another gateway wrote meanwhile is read, and the change planned again. */
  async function insist<Result>(by: ChangeActor, plan: () => Plan<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await carryOut(by, plan);
      } catch (error) {
        const isBehind = error instanceof GatewayError && error.code === "STORE_BEHIND";
        if (!isBehind || attempt === mostAttempts) throw error;
      }
    }
  }

  return async function change<Result>(by: ChangeActor, plan: () => Plan<Result>): Promise<Result> {
    const mine = last.then(async () => await insist(by, plan));
    last = mine.catch(() => undefined);
    return await mine;
  };
}
