import { hkdfSync } from "node:crypto";
import type { AccessStore } from "../../access-store.ts";
import type { AccessWrites } from "../../access-rows.ts";
import { readAnew, type ChangeListeners } from "../postgres/change-listeners.ts";
import type { SqlClient } from "./sql-client.ts";

export interface AccessStoreOptions {
  /** What the key of the store is made from. */
  readonly secret: Uint8Array;
  readonly isShared: boolean;
}

export function createAccessStore(
  client: Pick<SqlClient, "ask">,
  changes: ChangeListeners,
  { secret, isShared }: AccessStoreOptions,
): AccessStore {
  return {
    isShared,
    key: new Uint8Array(hkdfSync("sha256", secret, "", "toolyard access", 32)),
    read: async (nowMs) => await readAnew(changes, "changeAccess", async () => await client.ask("access", nowMs)),
    async change(writes, entries, people = {}) {
      const seen = Object.keys(people).length === 0 ? undefined : changes.seen("changePeople");
      const ask = { writes, entries, people, ...(seen === undefined ? {} : { seen }) };
      const { isDone, change, peopleChange } = await client.ask("changeAccess", ask);
      changes.wrote("changeAccess", change);
      // Nobody else has changed people between those two.
      changes.saw("changePeople", peopleChange);
      return isDone;
    },
    onChange: (listener) =>
      changes.listen("changeAccess", (detail) =>
        listener(detail === undefined ? undefined : (JSON.parse(detail) as AccessWrites)),
      ),
    grant: async (id) => (await client.ask("grant", id)) ?? undefined,
    item: async (kind, hash) => (await client.ask("accessItem", { kind, hash })) ?? undefined,
    itemsOf: async (kind, nowMs, page) => await client.ask("accessItems", { kind, nowMs, ...page }),
    itemByLookup: async (kind, lookup) => (await client.ask("accessItem", { kind, lookup })) ?? undefined,
    password: async (userId) => (await client.ask("password", userId)) ?? undefined,
    setup: async (hash) => (await client.ask("setupLink", hash)) ?? undefined,
    identity: async (place) => (await client.ask("identity", place)) ?? undefined,
    identitiesOf: async (userId) => await client.ask("identities", userId),
    purge: async (nowMs) => void (await client.ask("purgeAccess", nowMs)),
  };
}
