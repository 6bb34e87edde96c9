import { hkdfSync } from "node:crypto";
import type { AccessStore } from "../access-store.ts";
import type { SqlClient } from "./sql-client.ts";

/** @param secret what the key of the store is made from */
export function createAccessStore(client: Pick<SqlClient, "ask">, secret: Uint8Array): AccessStore {
  return {
    key: new Uint8Array(hkdfSync("sha256", secret, "", "toolyard access", 32)),
    read: async (nowMs) => await client.ask("access", nowMs),
    change: async (writes, entries, people = {}) => await client.ask("changeAccess", { writes, entries, people }),
    item: async (kind, hash) => (await client.ask("accessItem", { kind, hash })) ?? undefined,
    itemByLookup: async (kind, lookup) => (await client.ask("accessItem", { kind, lookup })) ?? undefined,
    password: async (userId) => (await client.ask("password", userId)) ?? undefined,
    setup: async (hash) => (await client.ask("setupLink", hash)) ?? undefined,
    identity: async (place) => (await client.ask("identity", place)) ?? undefined,
    purge: async (nowMs) => void (await client.ask("purgeAccess", nowMs)),
  };
}
