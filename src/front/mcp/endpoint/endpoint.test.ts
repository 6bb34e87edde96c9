import { describe, expect, test } from "vitest";
import type { Settings } from "../../../config/config.ts";
import { exposureNames, exposures } from "../../../config/rows/exposures.ts";
import { createEndpoints } from "./endpoint.ts";

function settings(changes: object = {}): Settings {
  return {
    exposure: "meta",
    transparent: undefined,
    namespaces: { enabled: true, helpTool: "toolyard_help" },
    ...changes,
  } as unknown as Settings;
}

describe("endpoints follow the table of exposures", () => {
  test.each(exposureNames)("%s has its path, its own name, and an event stream", (name) => {
    const endpointOf = createEndpoints(() => settings());
    const { showsOneServer } = exposures[name];
    const path = showsOneServer ? `/mcp/${name}/files` : `/mcp/${name}`;
    const shown = showsOneServer ? `${name}/files` : name;
    expect(endpointOf(path)).toMatchObject({ path, exposure: { name: shown } });
    expect(endpointOf(path.replace("/mcp", "/sse"))).toMatchObject({ sse: "stream", exposure: { name: shown } });
  });

  test.each(exposureNames)("%s can be what /mcp shows", (name) => {
    const { showsOneServer } = exposures[name];
    const chosen = settings({ exposure: name, transparent: showsOneServer ? "files" : undefined });
    const shown = showsOneServer ? `${name}/files` : name;
    expect(createEndpoints(() => chosen)("/mcp")?.exposure.name).toBe(shown);
  });

  test("a path that names no exposure is none", () => {
    const endpointOf = createEndpoints(() => settings());
    for (const path of ["/mcp/other", "/mcp/other/files", "/mcp/flat/files", "/mcp/server", "/mcp/constructor/files"])
      expect(endpointOf(path), path).toBeUndefined();
  });

  test("one that is switched off has no path, and /mcp falls back to the default; a changed setting is seen at once", () => {
    let now = settings({ exposure: "namespaces" });
    const endpointOf = createEndpoints(() => now);
    expect(endpointOf("/mcp")?.exposure.name).toBe("namespaces");
    now = settings({ exposure: "namespaces", namespaces: { enabled: false, helpTool: "toolyard_help" } });
    expect(endpointOf("/mcp/namespaces")).toBeUndefined();
    expect(endpointOf("/mcp")?.exposure.name).toBe("meta");
  });
});
