import type { Config } from "../../../config/config.ts";
import { toLocalOrigin, toUrl } from "../../../kernel/text/host-addresses.ts";
import type { GatewayHolder } from "../../../store/gateway-holder.ts";
import { dataDirectoryOf, readConfig, storeIn, type Surroundings } from "./surroundings.ts";

/** The known gateways on this machine. */
export interface OwnGateways {
  readonly running: readonly GatewayHolder[];
  /**
   * Where they listen, and where the configuration says that one would, as `http://127.0.0.1:3001`: a client's file
   * leads there also while none runs.
   */
  readonly origins: readonly string[];
}

/** Reads the locks of gateways; a configuration that cannot be read is passed over. */
export async function findOwnGateways(context: Surroundings): Promise<OwnGateways> {
  const config = await readConfig(context).catch(() => undefined);
  const dataDir = config === undefined ? context.homeDirectories.data : dataDirectoryOf(config, context);
  const running = await storeIn(dataDir, context)
    .lock.list()
    .catch(() => []);
  const urls = [...running.flatMap(({ url }) => url ?? []), ...(config === undefined ? [] : [configuredUrl(config)])];
  return { running, origins: [...new Set(urls.map(toLocalOrigin))] };
}

function configuredUrl({ settings: { host, port } }: Config): string {
  return toUrl(host, port);
}
