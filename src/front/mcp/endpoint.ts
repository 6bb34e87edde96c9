import type { Exposure } from "../../exposure/exposure.ts";
import { flatExposure } from "../../exposure/flat.ts";
import { metaExposure } from "../../exposure/meta.ts";
import { createInstanceExposure, createServerExposure } from "../../exposure/server.ts";
import type { Settings } from "../../config/config.ts";
import type { InstanceId } from "../../shared/ids.ts";

/** One MCP endpoint: a path, and what it shows. */
export interface Endpoint {
  readonly path: string;
  readonly exposure: Exposure;
  /** Only with a token of this instance. */
  readonly instance?: InstanceId;
}

/** Exposures that are shown at one endpoint each; more are added by what brings them. */
export type NamedExposures = ReadonlyMap<string, Exposure>;

export const builtInExposures: NamedExposures = new Map([
  ["meta", metaExposure],
  ["flat", flatExposure],
]);

/** `/mcp` is the default exposure, `/mcp/{exposure}` always that one, `/mcp/server/{slug}` one server (DESIGN.md section 5). */
export function createEndpoints(settings: Settings, exposures: NamedExposures): (path: string) => Endpoint | undefined {
  const known = new Map<string, Endpoint>();
  const standard =
    settings.transparent === undefined
      ? (exposures.get(settings.exposure) ?? metaExposure)
      : createServerExposure(settings.transparent);
  known.set("/mcp", { path: "/mcp", exposure: standard });
  for (const [name, exposure] of exposures) known.set(`/mcp/${name}`, { path: `/mcp/${name}`, exposure });
  return (path) => {
    const fixed = known.get(path);
    if (fixed !== undefined) return fixed;
    const slug = serverPath.exec(path)?.[1];
    return slug === undefined ? instanceEndpoint(path) : { path, exposure: createServerExposure(slug) };
  };
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

const instancePath = /^\/i\/([^/]{1,600})\/mcp$/;
const serverPath = /^\/mcp\/server\/([A-Za-z0-9][A-Za-z0-9._-]{0,62})$/;
