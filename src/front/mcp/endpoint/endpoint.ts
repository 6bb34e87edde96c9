import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import { exposureTable } from "../../../catalog/exposure/exposure-table.ts";
import { createInstanceExposure } from "../../../catalog/exposure/server.ts";
import type { Settings } from "../../../config/config.ts";
import { settingsTable } from "../../../config/settings/settings-table.ts";
import { exposureNames, type ExposureName } from "../../../config/rows/exposures.ts";
import type { InstanceId } from "../../../kernel/ids.ts";

/** One MCP endpoint: a path, and what it shows. */
export interface Endpoint {
  readonly path: string;
  readonly exposure: Exposure;
  /** Only with a token of this instance. */
  readonly instance?: InstanceId;
  /** Only in HTTP+SSE (2024-11-05): the event stream, or where its clients post. Both have the stream's path. */
  readonly sse?: "stream" | "messages";
}

/** The endpoint at a path; undefined where there is none. */
export type EndpointOf = (path: string) => Endpoint | undefined;

/**
 * `/mcp` is the default exposure, `/mcp/{exposure}` always that one, `/mcp/server/{slug}` one server,
 * `/i/{instance}/mcp` one instance. Each has an event stream for clients of HTTP+SSE, with `/sse` in place of `/mcp`,
 * and `/messages` behind that. They follow the configuration: a changed setting is a changed table.
 */
export function createEndpoints(current: () => Settings): EndpointOf {
  const exposures = createSharedExposures(current);
  let settings = current();
  let endpointOf = endpointsFor(settings, exposures);
  return (path) => {
    const now = current();
    if (now !== settings) {
      settings = now;
      endpointOf = endpointsFor(now, exposures);
    }
    return endpointOf(path);
  };
}

type SharedExposures = ReadonlyMap<ExposureName, Exposure>;

/** Those that show what all servers have. */
function createSharedExposures(current: () => Settings): SharedExposures {
  const shared = new Map<ExposureName, Exposure>();
  for (const name of exposureNames) {
    const row = exposureTable[name];
    if ("create" in row) shared.set(name, row.create(current));
  }
  return shared;
}

function isOn(name: ExposureName, settings: Settings): boolean {
  const row = exposureTable[name];
  return !("create" in row) || row.isOn?.(settings) !== false;
}

function endpointsFor(settings: Settings, all: SharedExposures): (path: string) => Endpoint | undefined {
  const shared = [...all].filter(([name]) => isOn(name, settings));
  const known = new Map<string, Endpoint>();
  known.set("/mcp", { path: "/mcp", exposure: standardOf(settings, new Map(shared)) });
  for (const [name, exposure] of shared) known.set(`/mcp/${name}`, { path: `/mcp/${name}`, exposure });
  const streamable = (path: string): Endpoint | undefined =>
    known.get(path) ?? serverEndpoint(path) ?? instanceEndpoint(path);
  return (path) => streamable(path) ?? sseEndpoint(path, streamable);
}

/** What `/mcp` shows; the default of all defaults where the one that is named is switched off. */
function standardOf({ exposure, transparent }: Settings, shared: SharedExposures): Exposure {
  const row = exposureTable[exposure];
  if ("createFor" in row && transparent !== undefined) return row.createFor(transparent);
  return (shared.get(exposure) ?? shared.get(settingsTable.exposure.fallback)) as Exposure;
}

/** `/mcp/{exposure}/{slug}`, for exposures that show one server. Whether the server exists is the exposure's to say. */
function serverEndpoint(path: string): Endpoint | undefined {
  const [, name, slug = ""] = serverPath.exec(path) ?? noMatch;
  if (!isExposureName(name)) return undefined;
  const row = exposureTable[name];
  return "createFor" in row ? { path, exposure: row.createFor(slug) } : undefined;
}

function isExposureName(name: string | undefined): name is ExposureName {
  return exposureNames.some((known) => known === name);
}

/** The twin of a Streamable HTTP endpoint. */
function sseEndpoint(path: string, streamable: (path: string) => Endpoint | undefined): Endpoint | undefined {
  const [, instance = "", shown = "", messages] = ssePath.exec(path) ?? noMatch;
  if (messages === undefined) return undefined;
  const twin = streamable(`${instance}/mcp${shown}`);
  if (twin === undefined) return undefined;
  const own =
    twin.instance === undefined ? `/sse${twin.path.slice("/mcp".length)}` : `${twin.path.slice(0, -"/mcp".length)}/sse`;
  return { ...twin, path: own, sse: messages === "" ? "stream" : "messages" };
}

/** `/i/{instance}/mcp`. Whether the instance exists is not said before the token has been looked at. */
function instanceEndpoint(path: string): Endpoint | undefined {
  const segment = instancePath.exec(path)?.[1];
  if (segment === undefined) return undefined;
  try {
    const instance = decodeURIComponent(segment);
    return {
      path: `/i/${encodeURIComponent(instance)}/mcp`,
      exposure: createInstanceExposure(instance),
      instance: instance as InstanceId,
    };
  } catch {
    return undefined;
  }
}

const ssePath = /^(\/i\/[^/]{1,600})?\/sse(\/.+?)??(\/messages|)$/;
const noMatch: readonly (string | undefined)[] = [];
const instancePath = /^\/i\/([^/]{1,600})\/mcp$/;
const serverPath = /^\/mcp\/([a-z]+)\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})$/;
