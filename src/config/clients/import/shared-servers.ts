import type { ServerConfig } from "../../config.ts";
import { hasProcess } from "../../entry/transports.ts";
import type { FoundServer } from "./read-clients.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";

/**
 * Those of a client's servers that this gateway has as well: the same program with the same arguments or the same
 * address, or an entry of the same name that starts the same program or goes to the same host (where a secret was moved
 * into a variable, the rest need not be equal). Servers that are off, on either side, and gateways are none.
 */
export function sharedServers(
  found: readonly FoundServer[],
  servers: readonly ServerConfig[],
): readonly SharedServer[] {
  const ours = servers.filter(({ disabledReason }) => disabledReason === undefined);
  return found.flatMap((server) => {
    if (server.gateway !== undefined || server.entry.enabled === false) return [];
    const same = ours.find((own) => isSame(server, own));
    return same === undefined ? [] : [{ name: server.name, server: same.slug }];
  });
}

/** A server that a client has itself, and the gateway as well. */
export interface SharedServer {
  /** In the client's file. */
  readonly name: string;
  /** Its slug in the gateway. */
  readonly server: string;
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

/**
 * A text that two entries share when they are the same server: the same program with the same arguments and variables,
 * or the same address with the same headers. Which of its tools are offered, and where its process runs, does not
 * count.
 */
export function serverIdentity({ command, args, env, envFile, type, url, headers }: ImportedEntry): string {
  const parts =
    url === undefined
      ? ["", command, args ?? [], sorted(env, false), envFile ?? null]
      : [type ?? "http", url.replace(/\/$/, ""), sorted(headers, true)];
  // `${env:TOKEN}` is `${TOKEN}`.
  return JSON.stringify(parts).replaceAll("${env:", "${");
}

function sorted(
  members: Readonly<Record<string, string>> | undefined,
  isCaseless: boolean,
): readonly (readonly [string, string])[] {
  return Object.entries(members ?? {})
    .map(([name, value]) => [isCaseless ? name.toLowerCase() : name, value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}
