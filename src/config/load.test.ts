import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "./config.ts";
import { configFileBytes } from "./file/file.ts";
import type { FoundConfig } from "./found-config.ts";
import { loadConfig, type LoadOptions } from "./load.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-config-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function load(options: Partial<LoadOptions> = {}): Promise<Config> {
  const homeDirectories = {
    config: join(directory, "home-config"),
    data: join(directory, "home-data"),
  };
  return loadConfig({
    cwd: directory,
    env: {},
    flags: {},
    homeDirectories,
    cores: 2,
    admit: async () => undefined,
    ...options,
  });
}

async function loadText(text: string): Promise<Config> {
  await writeFile(join(directory, "toolyard.json"), text);
  return load();
}

const loadValue = (value: unknown) => loadText(JSON.stringify(value));

describe("finding the file", () => {
  test("without any file there are no servers, and defaults for everything", async () => {
    const config = await load();
    expect(config).toMatchObject({ file: undefined, servers: [], warnings: [] });
    expect(config.settings).toMatchObject({
      host: "127.0.0.1",
      port: 3001,
      exposure: "meta",
      transparent: undefined,
      logLevel: "info",
      dataDir: join(directory, "home-data"),
      debugRoute: false,
      auth: { tokenHashes: [], insecure: false, allowTokenInUrl: false },
      search: { engine: "lexical", learn: true, embeddings: undefined },
      results: { discoverTokens: 4000 },
      instances: { parallelStarts: 4, stopTimeoutMs: 10_000, drainTimeoutMs: 25_000 },
      limits: { requestBodyBytes: 4 * 1024 * 1024, jsonDepth: 64, resultBytes: 32 * 1024 * 1024 },
      namespaces: { maxLoaded: 20, cacheTtlMs: 300_000, helpTool: "toolyard_help" },
    });
  });

  test("the working directory comes before the user's own directory, toolyard.json before mcp.json before .mcp.json", async () => {
    const files = [
      join(directory, "toolyard.json"),
      join(directory, "mcp.json"),
      join(directory, ".mcp.json"),
      join(directory, "home-config", "toolyard.json"),
    ];
    await mkdir(join(directory, "home-config"));
    for (const file of files) await writeFile(file, "{}");
    for (const file of files) {
      expect((await load()).file).toBe(file);
      await rm(file);
    }
    expect((await load()).file).toBeUndefined();
  });

  test("a file of the working directory is used only when it is admitted, as it was read; the user's own always", async () => {
    const text = '{ "mcpServers": { "a": { "command": "${RUN}", "envFile": "./near.env" } } }';
    await writeFile(join(directory, "near.env"), "A=1\n");
    await writeFile(join(directory, "mcp.json"), text);
    const seen: FoundConfig[] = [];
    const admit = async (found: FoundConfig): Promise<void> => void seen.push(found);
    await load({ admit });
    expect(seen).toMatchObject([{ text, variables: ["RUN"], envFiles: [join(directory, "near.env")] }]);
    await expect(load({ admit: undefined })).rejects.toMatchObject({ code: "CONFIG_UNTRUSTED" });
    await writeFile(join(directory, "near.env"), "A=2\n");
    await load({ admit });
    expect(seen[1]?.hash).not.toBe(seen[0]?.hash);
    expect((await load({ file: "mcp.json", admit: undefined })).servers).toHaveLength(1);
    await mkdir(join(directory, "home-config"));
    await rename(join(directory, "mcp.json"), join(directory, "home-config", "toolyard.json"));
    expect((await load({ admit: undefined })).servers).toHaveLength(1);
    // What was found once is read again as what it is, also when the search would find another file by now.
    await writeFile(join(directory, ".mcp.json"), text);
    await expect(load({ admit: undefined, again: join(directory, ".mcp.json") })).rejects.toThrow("was found here");
  });

  test("a flag names the file before TOOLYARD_CONFIG does, relative to the working directory", async () => {
    await writeFile(join(directory, "a.json"), "{}");
    await writeFile(join(directory, "b.json"), "{}");
    const env = { TOOLYARD_CONFIG: "b.json" };
    expect((await load({ file: "a.json", env })).file).toBe(join(directory, "a.json"));
    expect((await load({ env })).file).toBe(join(directory, "b.json"));
    await expect(load({ file: "none.json" })).rejects.toThrow(`${join(directory, "none.json")}: no such file`);
  });

  test("comments, trailing commas and a byte-order mark are allowed", async () => {
    const config = await loadText(
      '\uFEFF// mine\n{ "mcpServers": { "a": { "command": "x", /* here */ "args": ["1",], }, }, }\r\n',
    );
    expect(config.servers[0]?.transport).toMatchObject({ command: "x", args: ["1"] });
  });

  test("the result is frozen throughout", async () => {
    const config = await loadValue({
      mcpServers: { a: { command: "x", env: { B: "c" } } },
      toolyard: { principals: { alice: { servers: { a: { env: { B: "d" } } } } } },
    });
    expect(Object.isFrozen(config.servers)).toBe(true);
    expect(Object.isFrozen(config.servers[0]?.transport)).toBe(true);
    expect(() => Object.assign(config.settings.limits, { sessions: 1 })).toThrow(TypeError);
    expect(Object.isFrozen(config.people.principals.get("alice")?.servers.get("a")?.env)).toBe(true);
  });
});

test("FAULT 87: a file in UTF-16, not UTF-8, larger than 5 MiB, or a directory is refused", async () => {
  const refusal = async (content: string | Uint8Array) => {
    await writeFile(join(directory, "toolyard.json"), content);
    return load().then(String, (error: Error) => error.message.replace(`${directory}/`, ""));
  };
  expect(await refusal(Buffer.from("\uFEFF{}", "utf16le"))).toBe(
    "toolyard.json: is written in UTF-16; save it as UTF-8",
  );
  expect(await refusal(Buffer.from([0x7b, 0xff, 0x7d]))).toBe("toolyard.json: is not valid UTF-8");
  expect(await refusal(" ".repeat(configFileBytes + 1))).toContain("more than the limit of 5242880");
  await expect(load({ file: directory })).rejects.toThrow("is a directory; expected a file");
});

/** Each would hold everybody up for seconds, or minutes: the test's own time limit is an assertion, too. */
test.each<[string, string, string]>([
  ["comments in comments", "/*".repeat(2_400_000), "more than 200000 values"],
  ["commas", `{"mcpServers":{${",".repeat(4_800_000)}`, "more than 200000 values"],
  ["one key again and again", `{"mcpServers":{${'"a":{},'.repeat(20_000)}"b":{}}}`, "1001 problems"],
  ["brackets", "[".repeat(4_800_000), "more than 200000 values"],
  ["lines of nonsense", "x\n".repeat(30_000), "1001 problems"],
  ["many lines of nonsense", "x\n".repeat(90_000), "toolyard.json:1:1: expected"],
  ["a text without an end", `{"${"\\u0041".repeat(800_000)}`, "a text of more than 262144 characters"],
  [
    "a long text",
    JSON.stringify({ mcpServers: { a: { command: "a ".repeat(200_000) } } }),
    "a text of more than 262144",
  ],
  ["a table of TOML that does not end", `[${" ".repeat(900_000)}`, "expected"],
  ["nothing but blanks", `[${" ".repeat(4_800_000)}`, "more than 1000000 blanks"],
  [
    "too many servers",
    JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`s${at}`, {}])) }),
    "2001 servers; a gateway has 2000 at most",
  ],
  [
    "too many settings",
    JSON.stringify({ toolyard: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`portt${at}`, 1])) }),
    "toolyard: more than 10000 values and keys",
  ],
])("FAULT 87: a hostile file is refused at once: %s", async (_what, text, why) => {
  await expect(loadText(text)).rejects.toThrow(why);
});

test("FAULT 87: what is hostile and allowed is read, and others get their turns meanwhile", async () => {
  const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns += 1;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  const config = await loadValue({
    mcpServers: {
      ...Object.fromEntries(times(1_996, (at) => [`s${at}`, { comand: "x", bogus: 1, args: 3 }])),
      nested: { command: "x", args: ["${A:-".repeat(50_000), `${"${A:-".repeat(20_000)}${"}".repeat(20_000)}`] },
      open: { command: "x", args: ["${".repeat(130_000), "${A".repeat(80_000), "${A:-{".repeat(40_000)] },
      lacking: { command: "x", args: times(40_000, () => "${NOPE}") },
      wrong: { command: "x", args: times(10_000, (at) => at) },
    },
  });
  isRead = true;
  expect(config.servers).toHaveLength(2_000);
  expect(config.warnings.at(-1)).toMatch(/toolyard\.json: and \d+ more warnings$/);
  expect(turns).toBeGreaterThan(10);
});

test("the file named by a link is read, and its relative paths start where the link stands", async () => {
  await mkdir(join(directory, "real"));
  await writeFile(join(directory, "real", "c.json"), '{ "mcpServers": { "a": { "command": "x" } } }');
  await symlink(join("real", "c.json"), join(directory, "toolyard.json"));
  expect((await load()).servers[0]?.transport).toMatchObject({ cwd: directory });
});

test("the example file starts servers from the project's own packages", async () => {
  const file = join(import.meta.dirname, "..", "..", "examples", "mcp.json");
  const config = await load({ file });
  expect(config.warnings).toEqual([]);
  expect(config.servers.map(({ slug, disabledReason }) => [slug, disabledReason])).toEqual([
    ["everything", undefined],
    ["filesystem", undefined],
    ["memory", undefined],
  ]);
});
