import type { UpkeepAnswer, UpkeepRequest } from "../../app/owner/owner-upkeep.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { DatabaseCheck, StoreUpkeep } from "../../store/store-upkeep.ts";
import { readConfig, type CommandContext } from "../command/command-context.ts";
import { control } from "../gateway/owner-client.ts";
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
  const ask = async (request: UpkeepRequest): Promise<UpkeepAnswer> => {
    const { ok, message, hint, code, upkeep } = await control(store, { command: "upkeep", ...request });
    if (ok) return upkeep ?? {};
    const about = hint === undefined ? {} : { hint };
    throw new GatewayError(code ?? "STORE_UNAVAILABLE", message ?? "the gateway refused", about);
  };
  return {
    unserved: undefined,
    backup: async (path) => ({ path, bytes: (await ask({ task: "backup", path })).bytes ?? 0 }),
    check: async () => (await ask({ task: "check" })).databases as readonly DatabaseCheck[],
    [Symbol.asyncDispose]: async () => undefined,
  };
}
