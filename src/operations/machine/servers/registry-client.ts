import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { parseServerJson, type ServerJson } from "../../../config/registry/server-json.ts";
import { getFollowing, toReason } from "../../../wire/http/plain-request.ts";

export interface RegistryServer {
  readonly server: ServerJson;
  /** Why somebody may not want it: it is deprecated. */
  readonly warning: string | undefined;
}

/** How a registry is asked. */
export interface RegistryWay {
  /** The registry's address: the setting `registryUrl`. */
  readonly registryUrl: string;
  /** May name a proxy. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export interface RegistryAsk extends RegistryWay {
  /** `io.github.x/y`. */
  readonly name: string;
  /** Undefined for the newest. */
  readonly version: string | undefined;
}

/** A registry that takes longer is not there. */
const timeoutMs = 15_000;
/** The largest entry of the official registry has some 40 KB, and a list has twenty. */
const longestAnswer = 1024 * 1024;
/** The API's version today, and the one of registries that have not followed yet. */
const apiVersions = ["v0.1", "v0"] as const;
const mostSuggestions = 5;
const mostFound = 20;

/**
 * Looks a server up in an MCP registry (`GET /v0.1/servers/{name}/versions/{version}`). Rejects with REGISTRY_FAILED,
 * which names similar servers where there are some.
 */
export async function findInRegistry(ask: RegistryAsk): Promise<RegistryServer> {
  const { name, version = "latest" } = ask;
  for (const api of apiVersions) {
    const path = `${api}/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
    const answer = await get(ask, path);
    if (answer !== undefined) return toServer(answer, ask.name);
  }
  const similar = await suggestions(ask);
  throw new GatewayError(
    "REGISTRY_FAILED",
    `${ask.registryUrl} has no server ${name}${ask.version === undefined ? "" : ` in version ${version}`}`,
    similar.length === 0 ? {} : { hint: `Did you mean ${similar.join(" or ")}?` },
  );
}

/**
 * Servers whose names contain a text, in their newest versions. Those that cannot be read are left out. Rejects with
 * REGISTRY_FAILED.
 */
export async function searchRegistry(way: RegistryWay, text: string): Promise<readonly RegistryServer[]> {
  return (await list(way, text, mostFound)).flatMap((item) => {
    try {
      return [toServer(item, nameIn(item) ?? text)];
    } catch {
      return [];
    }
  });
}

function toServer(answer: unknown, name: string): RegistryServer {
  const members = isJsonObject(answer) ? answer : {};
  // The answer has the server and what the registry says of it; a plain server.json is taken as well.
  const server = parseServerJson(members["server"] ?? members);
  const meta = isJsonObject(members["_meta"]) ? members["_meta"] : {};
  const official = meta["io.modelcontextprotocol.registry/official"];
  const status = isJsonObject(official) ? official["status"] : undefined;
  if (status === "deleted")
    throw new GatewayError("REGISTRY_FAILED", `${name} was removed from the registry`, {
      hint: "Servers are removed when they are malicious or no longer exist: look for another one.",
    });
  return {
    server,
    warning: status === "deprecated" ? `${name} is deprecated: its author recommends not to use it` : undefined,
  };
}

/** Names that contain the last part of the one that was asked for. Empty when that cannot be found out. */
async function suggestions(ask: RegistryAsk): Promise<readonly string[]> {
  const last = ask.name.slice(ask.name.lastIndexOf("/") + 1);
  const found = await list(ask, last, mostSuggestions).catch(() => []);
  return found.flatMap((item) => nameIn(item) ?? []);
}

async function list(way: RegistryWay, text: string, most: number): Promise<readonly unknown[]> {
  const query = new URLSearchParams({ search: text, version: "latest", limit: String(most) });
  const answer = await get(way, `${apiVersions[0]}/servers?${query.toString()}`);
  const found: unknown = isJsonObject(answer) ? answer["servers"] : undefined;
  return Array.isArray(found) ? found.slice(0, most) : [];
}

function nameIn(item: unknown): string | undefined {
  const server = isJsonObject(item) && isJsonObject(item["server"]) ? item["server"] : {};
  return typeof server["name"] === "string" ? server["name"] : undefined;
}

/** Undefined for a 404. */
async function get({ registryUrl, env, signal }: RegistryWay, path: string): Promise<unknown> {
  const url = `${registryUrl.replace(/\/+$/, "")}/${path}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const headers = { accept: "application/json" };
    const { status, text } = await getFollowing({ url, headers, signal: limit, env, mostBytes: longestAnswer });
    if (status === 404) return undefined;
    if (status < 200 || status >= 300) throw new Error(`it answered ${status}`);
    return JSON.parse(text) as unknown;
  } catch (error) {
    signal.throwIfAborted();
    throw new GatewayError("REGISTRY_FAILED", `the registry ${registryUrl} cannot be asked: ${toReason(error)}`, {
      cause: error,
      hint: "Check the network and the setting toolyard.registryUrl, or add the server by its command or URL.",
    });
  }
}
