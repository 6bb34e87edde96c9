import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import { exposureTable } from "../../../catalog/exposure/exposure-table.ts";
import { createInstanceExposure } from "../../../catalog/exposure/server.ts";
import type { Settings } from "../../../config/config.ts";
import { settingsTable } from "../../../config/settings/settings-table.ts";
import { type ExposureName, exposureNames } from "../../../config/rows/exposures.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { firstWaitMs } from "../../../kernel/limits.ts";
import type { View, ViewServer } from "../../../catalog/model/view.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import type { Principal } from "../../../kernel/principal.ts";

/** One MCP endpoint: a path, and what it shows. */
export interface Endpoint {
  readonly path: string;
  readonly exposure: Exposure;
  /** Only with a token of this instance. */
  readonly instance?: InstanceId;
  /** The profile that narrows who comes here. */
  readonly profile?: string;
  /** Only in HTTP+SSE (2024-11-05): the event stream, or where its clients post. Both have the stream's path. */
  readonly sse?: "stream" | "messages";
}

/** The endpoint at a path; undefined where there is none. */
export type EndpointOf = (path: string) => Endpoint | undefined;

/**
 * `/mcp` is the default exposure, `/mcp/{exposure}` always that one, `/mcp/server/{slug}` one server,
 * `/i/{instance}/mcp` one instance. Behind `/mcp/p/{profile}` are the same, but for those of one instance. Each has an
 * event stream for clients of HTTP+SSE, with `/sse` in place of `/mcp`, and `/messages` behind that. They follow the
 * configuration: a changed setting is a changed table.
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
    known.get(path) ?? serverEndpoint(path) ?? instanceEndpoint(path) ?? profileEndpoint(path, settings, streamable);
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

/**
 * `/mcp/p/{profile}`, and the path of another endpoint behind that. Whether the profile exists is not said before the
 * credential has been looked at.
 */
function profileEndpoint(
  path: string,
  { profiles }: Settings,
  streamable: (path: string) => Endpoint | undefined,
): Endpoint | undefined {
  const [, profile, behind = ""] = profilePath.exec(path) ?? noMatch;
  if (profile === undefined) return undefined;
  const shown = behind === "" && Object.hasOwn(profiles, profile) ? profiles[profile]?.exposure : undefined;
  const twin = streamable(`/mcp${shown === undefined ? behind : `/${shown}`}`);
  return twin === undefined || twin.profile !== undefined ? undefined : { ...twin, path, profile };
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
const profilePath = /^\/mcp\/p\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})(\/[a-z].*)?$/;
const serverPath = /^\/mcp\/([a-z]+)\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})$/;

interface StartupWaitDeps {
  readonly viewOf: (principal: Principal) => View;
  /** Reads the stored state of the principal's own servers at the first request; undefined once it is read. */
  readonly adopting: (principal: Principal) => Promise<void> | undefined;
  /** Waits until the instance has come up, or has failed to, or the signal aborts. */
  readonly settledOne: (instance: InstanceId, signal: AbortSignal) => Promise<void>;
}

/**
 * A wait that a request needs before anything can be said of the servers behind its endpoint; undefined when there is
 * none.
 */
export type StartupWait = (endpoint: Endpoint, principal: Principal) => Promise<void> | undefined;

/**
 * A transparent endpoint declares its server's capabilities, and legacy clients are told of them once: a server never
 * seen before is waited for. A known one, also from disk, is never waited for.
 */
export function createStartupWait({ viewOf, adopting, settledOne }: StartupWaitDeps): StartupWait {
  return (endpoint, principal) => {
    const adopted = adopting(principal);
    return adopted === undefined
      ? settledAt(endpoint, principal)
      : adopted.then(async () => await settledAt(endpoint, principal));
  };

  function settledAt({ exposure }: Endpoint, principal: Principal): Promise<void> | undefined {
    if (!exposure.isTransparent) return undefined;
    const server = serverAt(exposure, viewOf(principal));
    return server === undefined || server.catalog !== undefined
      ? undefined
      : settledOne(server.instance, abortAfter(firstWaitMs));
  }
}

function serverAt(exposure: Exposure, view: View): ViewServer | undefined {
  try {
    return exposure.transparent(view);
  } catch {
    // No such server: the request itself will say so.
    return undefined;
  }
}
