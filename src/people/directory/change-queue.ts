import type { Clock } from "../../kernel/runtime/clock.ts";
import type { PasswordRow } from "../../store/access-rows.ts";
import type { PeopleWrites } from "../../store/people-rows.ts";
import type { PeopleStore } from "../../store/record-store.ts";
import { createChangeWriter, type PlannedChange } from "../changes/change-writer.ts";
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

/** A change of people, planned. */
export interface Plan<Result> extends PlannedChange<PeopleWrites, Result> {
  /** Of users that come into being by it. */
  readonly passwords?: readonly PasswordRow[];
  /** The set-up link that it is done with. */
  readonly spentSetup?: string;
}

export type CarryOut = <Result>(by: ChangeActor, plan: () => Plan<Result>) => Promise<Result>;

export interface ChangeQueueDeps {
  readonly directory: Pick<TeamDirectory, "book" | "apply">;
  readonly store: PeopleStore;
  readonly clock: Pick<Clock, "now">;
}

export function createChangeQueue({ directory, store, clock }: ChangeQueueDeps): CarryOut {
  const writer = createChangeWriter<PeopleWrites, Plan<unknown>>({
    clock,
    readAll: async () => directory.apply(directory.book.differenceTo(await store.read())),
    async write({ writes, passwords, spentSetup }, entry) {
      const access = { ...(passwords && { passwords }), ...(spentSetup !== undefined && { spentSetup }) };
      await store.change(writes, entry, access);
    },
    apply: directory.apply,
    isTold: store.isTold,
  });
  return async (by, plan) => (await writer.change(by, plan)).result;
}
