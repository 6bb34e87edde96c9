import type { Config } from "../../../config/config.ts";
import { toLocalOrigin, toUrl } from "../../../kernel/text/host-addresses.ts";
import type { GatewayHolder } from "../../../store/gateway-holder.ts";
import { dataDirectoryOf, readConfig, storeIn, type Surroundings } from "./surroundings.ts";
import { addressRulesFor } from "../../../servers/logins/protocol/addresses.ts";
import { createOutgoing, type LoginPlace } from "../../../servers/logins/outgoing.ts";
import { fetchResourceMetadata, probe } from "../../../servers/logins/protocol/resource-metadata.ts";
import { createLoginRoute } from "../../../servers/logins/http-route.ts";

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

/** A gateway in the same network answers in milliseconds, and without an answer somebody waits for the command. */
const patienceMs = 3_000;

/**
 * Whether the gateway at `url` has people log in (RFC 9728): clients then need nothing but the address. False also
 * where nothing listens, and after {@link patienceMs}.
 */
export async function logsPeopleIn(url: string, env: Surroundings["env"]): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMs);
  try {
    const outgoing = createOutgoing(await addressRulesFor(url), placeOfGateway(url, env));
    const challenge = await probe(url, {}, outgoing, signal);
    if (challenge.status !== 401) return false;
    const metadata = await fetchResourceMetadata(url, challenge, outgoing, signal);
    return metadata !== undefined && metadata.authorizationServers.length > 0;
  } catch {
    return false;
  }
}

/** How this machine reaches a gateway elsewhere: through the proxy that the environment names. */
export function placeOfGateway(mcpUrl: string, env: Surroundings["env"]): LoginPlace {
  const transport = { kind: "http" as const, url: mcpUrl, headers: {} };
  const route = createLoginRoute("the gateway", transport, {
    environment: env,
    loadLate: async (_what, load) => await load(),
  });
  return { serverUrl: mcpUrl, route };
}
