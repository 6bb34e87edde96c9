import type { PinStore } from "../../../catalog/discovery/pins.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { SqlClient } from "./sql-client.ts";
import { toStorable } from "../storable.ts";

/** Each gateway of a database reads them when they are asked for. */
export function createMemberPinStore(client: Pick<SqlClient, "ask">): PinStore {
  return {
    of: async (person) => (await client.ask("pins", person)) ?? undefined,
    async choose(person, given) {
      const choice = given === undefined || given === "auto" ? (given ?? null) : given.map(toStorable);
      if (!(await client.ask("choosePins", { person, choice })))
        throw new GatewayError("UNAUTHORIZED", "whoever chose it has left the team");
    },
  };
}
