import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { codeBlocks } from "../../scripts/site/markdown.mjs";
import { loadConfig, loadConfigText } from "../../src/config/load.ts";

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

test("the configurations of docs/safety-for-teams.md and docs/safety.md are in force as they are", async () => {
  for (const page of ["docs/safety-for-teams.md", "docs/safety.md"]) {
    const blocks = codeBlocks(readFileSync(join(root, page), "utf8"));
    const texts = blocks.filter(({ language }) => /^jsonc?$/.test(language)).map(({ content }) => content);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) {
      const env = { WEBHOOK_SECRET: "a secret of sixteen characters", BILLING_TOKEN: "t" };
      const source = { file: join(root, "toolyard.json"), text };
      const config = await loadConfigText(source, { cwd: root, env, flags: { team: true }, homeDirectories: homes });
      expect([page, config.warnings]).toEqual([page, []]);
      expect(config.servers.filter(({ disabledReason }) => disabledReason !== undefined)).toEqual([]);
    }
  }
});
