import type { checkDatabases, writeBackup } from "../../operations/gateway/database-operations.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { StoreUpkeep } from "../../store/store-upkeep.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { openUnservedStore, type UnservedStore } from "../gateway/unserved-store.ts";

/** How a command gets at the databases: through the gateway that has them, or by itself while none runs. */
export interface UpkeepSource extends Pick<StoreUpkeep, "backup" | "check">, AsyncDisposable {
  /** Undefined where a gateway runs. */
  readonly unserved: UnservedStore | undefined;
}

export async function openUpkeep(context: CommandContext): Promise<UpkeepSource> {
  const holder = await findGateway(context).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === "GATEWAY_UNREACHABLE") return undefined;
    throw error;
  });
  const store = holder ?? (await openUnservedStore(context, await readConfig(context)));
  if ("records" in store) {
    const { backup, check } = store.records.upkeep;
    return { backup, check, unserved: store, [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose]() };
  }
  const gateway = ownersClient(store);
  return {
    unserved: undefined,
    async backup(path) {
      const body = { path };
      return { path, ...(await gateway.ask<typeof writeBackup>("PUT /api/system/backup", { body })) };
    },
    async check() {
      return (await gateway.ask<typeof checkDatabases>("GET /api/system/db", {})).databases;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
