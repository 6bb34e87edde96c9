import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { codeBlocks } from "../../scripts/site/markdown.mjs";
import { buildConfig } from "../../src/config/load.ts";
import { startGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/recipes.md", import.meta.url)), "utf8");
const titles = [...page.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => title);
const recipes = codeBlocks(page).map(({ content }, index) => [titles[index] ?? "", content] as const);
const variables = [...page.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);

interface Entry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  tools?: { allow?: string[] };
}

describe("docs/recipes.md", () => {
  test("has ten recipes, each with one configuration", () => {
    expect(titles).toHaveLength(10);
    expect(recipes).toHaveLength(10);
  });

  test.each(recipes)("%s: every server can be used once its variables are set, and nothing is odd", (_title, text) => {
    const { servers, warnings } = load(text, Object.fromEntries(variables.map((name) => [name, "/value"])));
    expect(warnings).toEqual([]);
    expect(servers.length).toBeGreaterThan(0);
    expect(servers.filter(({ disabledReason }) => disabledReason !== undefined)).toEqual([]);
  });

  test.each(recipes.filter(([, text]) => text.includes("${")))(
    "%s: without its variables only the servers that need them are off, with their names",
    (_title, text) => {
      const { servers } = load(text, {});
      for (const { slug, disabledReason } of servers) {
        const entry = JSON.stringify((JSON.parse(text) as { mcpServers: Record<string, unknown> }).mcpServers[slug]);
        const needed = /\$\{(\w+)\}/.exec(entry)?.[1];
        if (needed === undefined) expect(disabledReason).toBeUndefined();
        else expect(disabledReason).toContain(needed);
      }
    },
  );

  test.each(["Reading files, writing none", "Notes and memory"])(
    "%s: what is installed here is served",
    async (title) => {
      const home = await mkdtemp(join(tmpdir(), "toolyard-recipe-"));
      await writeFile(join(home, "kept.txt"), "kept\n");
      const config = JSON.parse(recipes.find(([name]) => name === title)?.[1] ?? "") as {
        mcpServers: Record<string, Entry>;
      };
      const served = Object.fromEntries(
        Object.entries(config.mcpServers).flatMap(([name, entry]) => {
          const local = installed(entry, home);
          return local === undefined ? [] : [[name, local]];
        }),
      );
      expect(served).not.toEqual({});
      await using gateway = await startGateway({ config: { mcpServers: served } });
      const tools = await until(async () => {
        const list = (await (await fetch(`${gateway.url}/api/tools?limit=1000`)).json()) as {
          tools: { tool_path: string }[];
        };
        const names = list.tools.map(({ tool_path: path }) => path);
        return Object.keys(served).every((name) => names.some((path) => path.startsWith(`${name}:`)))
          ? names
          : undefined;
      });
      if (title.startsWith("Reading")) expect(tools.filter((path) => /write|edit|move|create/.test(path))).toEqual([]);
      expect(tools.some((path) => /read|search/.test(path))).toBe(true);
      await rm(home, { recursive: true });
    },
  );
});

/** The entry with the package that this repository has, in place of npx; undefined for packages that it has not. */
function installed({ args = [], env = {}, ...rest }: Entry, home: string): Entry | undefined {
  const [, name = "", ...own] = args;
  const here = createRequire(import.meta.url);
  try {
    const file = here.resolve(`${name}/package.json`);
    const { bin } = here(file) as { bin: Record<string, string> };
    const fill = (text: string): string =>
      text.replace(/\$\{HOME\}(?:\/Documents|\/notes(?=$))?/, home).replace("/notes/", "/");
    return {
      ...rest,
      command: process.execPath,
      args: [join(dirname(file), Object.values(bin)[0] ?? ""), ...own.map(fill)],
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)])),
    };
  } catch {
    return undefined;
  }
}

function load(text: string, env: Readonly<Record<string, string>>) {
  return buildConfig(
    { file: "/conf/toolyard.json", text },
    { cwd: "/conf", env, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  );
}
