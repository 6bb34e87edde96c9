import { addressRulesFor } from "../../../servers/logins/protocol/addresses.ts";
import { createOutgoing, type LoginPlace } from "../../../servers/logins/outgoing.ts";
import { fetchResourceMetadata, probe } from "../../../servers/logins/protocol/resource-metadata.ts";
import type { Surroundings } from "./surroundings.ts";
import { createLoginRoute } from "../../../servers/logins/http-route.ts";

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
