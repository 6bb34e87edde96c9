import { hkdfSync } from "node:crypto";
import type { MemberSearchStore } from "../../../catalog/discovery/kept-searches.ts";
import type { PinStore } from "../../../catalog/discovery/pins.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { AccessWrites } from "../../access-rows.ts";
import { accessQuestions, type AccessStore } from "../../access-store.ts";
import { toApprovalWrites, type ApprovalStore } from "../../approval-rows.ts";
import type { PeopleWrites } from "../../people-rows.ts";
import { attemptQuestions, claimQuestions, type ClaimStore } from "../../shared.ts";
import type { InstallStore, PeopleStore } from "../../record-store.ts";
import type { ToldKind } from "../tables.ts";
import { readAnew, type ChangeListeners } from "../postgres/change-listeners.ts";
import { toStorable } from "../row-text.ts";
import { toAsked, type SqlClient } from "./sql-client.ts";

type Client = Pick<SqlClient, "ask">;

export function createPeopleStore(client: Client, changes: ChangeListeners): PeopleStore {
  /** With which the last change was planned. */
  let seen: number | undefined;
  return {
    read: async () => await readAnew(changes, "changePeople", async () => await client.ask("people", undefined)),
    async change(writes, entry, access = {}) {
      seen = changes.seen("changePeople");
      const ask = { writes, entry, access, ...seenOf(changes, "changePeople") };
      const { change, ...place } = await client.ask("changePeople", ask);
      // No one else has changed people between those two.
      changes.saw("changePeople", change);
      return place;
    },
    isTold: () => !changes.owes("changePeople") && changes.seen("changePeople") !== seen,
    onChange: (listener) => changes.listen("changePeople", (detail) => listener(toWrites<PeopleWrites>(detail))),
    use: async (uses) => await client.ask("usePats", uses),
  };
}

export function createInstallStore(client: Client, changes: ChangeListeners): InstallStore {
  return {
    read: async () => await readAnew(changes, "changeInstalls", async () => await client.ask("installs", undefined)),
    async change(writes, entry) {
      const ask = { writes, entry, ...seenOf(changes, "changeInstalls") };
      const { change, ...place } = await client.ask("changeInstalls", ask);
      changes.saw("changeInstalls", change);
      return place;
    },
    onChange: (listener) => changes.listen("changeInstalls", () => listener()),
    use: async (uses) => await client.ask("useSecrets", uses),
  };
}

/** @param secret what the key of the store is made from */
export function createAccessStore(
  client: Client,
  changes: ChangeListeners,
  secret: Uint8Array,
  isShared: boolean,
): AccessStore {
  return {
    ...toAsked(client, { ...accessQuestions, ...attemptQuestions }),
    isShared,
    key: new Uint8Array(hkdfSync("sha256", secret, "", "toolyard access", 32)),
    read: async (nowMs) => await readAnew(changes, "changeAccess", async () => await client.ask("access", nowMs)),
    async change(writes, entries, people = {}) {
      const hasPeople = Object.keys(people).length > 0;
      const ask = { writes, entries, people, ...(hasPeople && seenOf(changes, "changePeople")) };
      const { isDone, change, peopleChange } = await client.ask("changeAccess", ask);
      changes.wrote("changeAccess", change);
      // No one else has changed people between those two.
      changes.saw("changePeople", peopleChange);
      return isDone;
    },
    onChange: (listener) => changes.listen("changeAccess", (detail) => listener(toWrites<AccessWrites>(detail))),
  };
}

/** Of all gateways of a database: a change that was planned with a state that is another by now is not written. */
export function createApprovalStore(client: Client, changes: ChangeListeners): ApprovalStore {
  const readAll = async () =>
    await readAnew(changes, "changeApprovals", async () => await client.ask("approvals", null));
  return {
    read: async (ids) => (ids === undefined ? await readAll() : await client.ask("approvals", ids)),
    async write(next, before) {
      const { isDone, change } = await client.ask("changeApprovals", toApprovalWrites(before, next));
      changes.wrote("changeApprovals", change);
      return isDone;
    },
    onChange: (listener) =>
      changes.listen("changeApprovals", (detail) => listener(toWrites<readonly string[]>(detail))),
  };
}

export function createClaimStore(client: Client, changes: ChangeListeners): ClaimStore {
  return {
    ...toAsked(client, claimQuestions),
    async claim(ask) {
      const { fresh, change } = await client.ask("claim", ask);
      changes.wrote("claim", change);
      return fresh;
    },
    onEnded: (listener) =>
      changes.listen("claim", (detail) => {
        listener(toWrites<readonly string[]>(detail));
        // Those that are known here are looked up now: nothing else is read.
        if (detail === undefined) changes.saw("claim", changes.least("claim"));
      }),
  };
}

/** Nothing of it is in memory: each gateway of a database reads them when they are asked for. */
export function createMemberSearchStore(client: Client): MemberSearchStore {
  return {
    of: async (person) => await client.ask("keptSearches", person),
    async keep(given, most) {
      const search = { ...given, query: toStorable(given.query), tool: toStorable(given.tool) };
      return { search, outcome: await client.ask("keepSearch", { search, most }) };
    },
    remove: async (person, id) => await client.ask("removeKeptSearch", { person, id }),
  };
}

/** Each gateway of a database reads them when they are asked for. */
export function createMemberPinStore(client: Client): PinStore {
  return {
    of: async (person) => await client.ask("pins", person),
    async choose(person, given) {
      const choice = given === undefined || given === "auto" ? (given ?? null) : given.map(toStorable);
      if (!(await client.ask("choosePins", { person, choice })))
        throw new GatewayError("UNAUTHORIZED", "whoever chose it has left the team");
    },
  };
}

/** The last change of that kind by others that a change is planned with. */
function seenOf(changes: ChangeListeners, kind: ToldKind): { readonly seen?: number } {
  const seen = changes.seen(kind);
  return seen === undefined ? {} : { seen };
}

function toWrites<Writes>(detail: string | undefined): Writes | undefined {
  return detail === undefined ? undefined : (JSON.parse(detail) as Writes);
}
