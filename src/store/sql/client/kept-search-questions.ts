import type { MemberSearchStore } from "../../../catalog/discovery/kept-searches.ts";
import type { SqlClient } from "./sql-client.ts";
import { toStorable } from "../storable.ts";

/** Nothing of it is in memory: each gateway of a database reads them when they are asked for. */
export function createMemberSearchStore(client: Pick<SqlClient, "ask">): MemberSearchStore {
  return {
    of: async (person) => await client.ask("keptSearches", person),
    async keep(given, most) {
      const search = { ...given, query: toStorable(given.query), tool: toStorable(given.tool) };
      return { search, outcome: await client.ask("keepSearch", { search, most }) };
    },
    remove: async (person, id) => await client.ask("removeKeptSearch", { person, id }),
  };
}
