import type { Exposure } from "../../catalog/exposure/exposure.ts";
import { flatExposure } from "../../catalog/exposure/flat.ts";
import { metaExposure } from "../../catalog/exposure/meta.ts";
import { createInstanceExposure, createServerExposure } from "../../catalog/exposure/server.ts";
import type { Settings } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";

/** One MCP endpoint: a path, and what it shows. */
export interface Endpoint {
  readonly path: string;
  readonly exposure: Exposure;
  /** Only with a token of this instance. */
  readonly instance?: InstanceId;
  /** Only in HTTP+SSE (2024-11-05): the event stream, or where its clients post. Both have the stream's path. */
  readonly sse?: "stream" | "messages";
}

/** Exposures that are shown at one endpoint each; more are added by what brings them. */
export type NamedExposures = ReadonlyMap<string, Exposure>;

export const builtInExposures: NamedExposures = new Map([
  ["meta", metaExposure],
  ["flat", flatExposure],
]);

/**
 * `/mcp` is the default exposure, `/mcp/{exposure}` always that one, `/mcp/server/{slug}` one server, `/i/{instance}/mcp` one instance.
 * Each has an event stream for clients of HTTP+SSE, with `/sse` in place of `/mcp`, and `/messages` behind that.
 */
export function createEndpoints(settings: Settings, exposures: NamedExposures): (path: string) => Endpoint | undefined {
  const known = new Map<string, Endpoint>();
  const standard =
    settings.transparent === undefined
      ? (exposures.get(settings.exposure) ?? metaExposure)
      : createServerExposure(settings.transparent);
  known.set("/mcp", { path: "/mcp", exposure: standard });
  for (const [name, exposure] of exposures) known.set(`/mcp/${name}`, { path: `/mcp/${name}`, exposure });
  const streamable = (path: string): Endpoint | undefined => {
    const fixed = known.get(path);
    if (fixed !== undefined) return fixed;
    const slug = serverPath.exec(path)?.[1];
    return slug === undefined ? instanceEndpoint(path) : { path, exposure: createServerExposure(slug) };
  };
  return (path) => streamable(path) ?? sseEndpoint(path, streamable);
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
const serverPath = /^\/mcp\/server\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})$/;
