import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const homes = { config: "/nowhere", data: "/nowhere" };

test.each([
  ["examples/mcp.json", 3],
  ["examples/laptop.json", 24],
])(
  "%s: every one of its %i servers can be started in a bare environment, and nothing in it is odd",
  async (file, count) => {
    const config = await loadConfig({ file, cwd: root, env: {}, flags: {}, homeDirectories: homes });
    expect(config.warnings).toEqual([]);
    expect(config.servers).toHaveLength(count);
    expect(config.servers.filter(({ disabledReason }) => disabledReason !== undefined)).toEqual([]);
  },
);
