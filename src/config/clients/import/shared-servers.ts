import type { ServerConfig } from "../../config.ts";
import { hasProcess } from "../../entry/transports.ts";
import type { FoundServer } from "./read-clients.ts";

/**
 * Those of a client's servers that this gateway has as well: the same program with the same arguments or the same
 * address, or an entry of the same name that starts the same program or goes to the same host (where a secret was moved
 * into a variable, the rest need not be equal). Servers that are off, on either side, and gateways are none.
 */
export function sharedServers(found: readonly FoundServer[], servers: readonly ServerConfig[]): readonly FoundServer[] {
  const ours = servers.filter(({ disabledReason }) => disabledReason === undefined);
  return found.filter(
    (server) =>
      server.gateway === undefined && server.entry.enabled !== false && ours.some((own) => isSame(server, own)),
  );
}

function isSame({ name, entry }: FoundServer, { key, slug, transport }: ServerConfig): boolean {
  const isNamed = name === key || name === slug;
  if (hasProcess(transport)) {
    if (entry.command === undefined || entry.command !== transport.command) return false;
    const args = entry.args ?? [];
    return isNamed || (args.length === transport.args.length && args.every((arg, at) => arg === transport.args[at]));
  }
  if (entry.url === undefined) return false;
  return entry.url === transport.url || (isNamed && hostOf(entry.url) === hostOf(transport.url));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
