import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadValue } from "../../../test/harness/config-text.ts";
import type { ServerConfig, ServerOverrides } from "../config.ts";
import { listConfig } from "../edit/config-listing.ts";
import { loadConfig } from "../load.ts";
import { personalServer } from "../people/personal.ts";
import { createConfigSecrets } from "../secrets.ts";

async function loadEntry(entry: object, env: Record<string, string> = {}): Promise<ServerConfig> {
  const { servers } = await loadValue({ mcpServers: { a: entry } }, { env });
  return servers[0] as ServerConfig;
}

test.each([
  ["its own variable", { A: "own" }, "x=${A}", "x=own"],
  ["with a prefix", { A: "own" }, "${env:A}", "own"],
  ["with a default", { A: "own" }, "${A:-d}", "own"],
  ["an empty one has its default", { A: "" }, "${A:-d}", "d"],
  ["an empty one", { A: "" }, "<${A}>", "<>"],
  ["another one in its own", { A: "a${B}", B: "b${C}", C: "c" }, "${A}", "abc"],
  ["itself, which is the gateway's", { A: "own:${A}" }, "${A}", "own:gateway"],
  ["a default that names its own", { A: "own" }, "${NONE:-${A}}", "own"],
  ["a number", { A: 3.1 }, "${A}", "3.1"],
  ["what it does not have", { B: "own" }, "${A}", "gateway"],
  ["an input of VS Code", { TOOLYARD_INPUT_KEY: "own" }, "${input:key}", "own"],
])("a variable of an entry means the entry's own `env` first: %s", async (_what, env, text, expected) => {
  const gateway = { A: "gateway" };
  const process = await loadEntry({ command: "x", args: ["${/}", text], env }, gateway);
  expect(process).toMatchObject({ disabledReason: undefined, transport: { args: ["/", expected] } });
  const remote = await loadEntry({ url: `https://h/${text}`, headers: { "X-Own": text }, env }, gateway);
  expect(remote.transport).toMatchObject({ url: `https://h/${expected}`, headers: { "X-Own": expected } });
  const folder = await loadEntry({ command: text, cwd: `/w/${text}`, env }, gateway);
  expect(folder.transport).toMatchObject({ cwd: `/w/${expected}` });
});

test("variables that refer to each other in a circle mean what the gateway has, or are missing", async () => {
  const env = { A: "a${B}", B: "b${A}", PATH: "/x:${PATH}" };
  const entry = { command: "x", args: ["${A}", "${PATH}"], env };
  const known = await loadEntry(entry, { A: "1", B: "2", PATH: "/usr/bin" });
  expect(known).toMatchObject({ disabledReason: undefined, transport: { env: { PATH: "/x:/usr/bin" } } });
  expect(known.transport).toMatchObject({ args: ["ab1", "/x:/usr/bin"] });
  const unknown = await loadEntry(entry, {});
  expect(unknown.disabledReason).toBe("the variables A, PATH are not set");
});

test("variables that double each other's texts end at a limit", async () => {
  const names = Array.from({ length: 60 }, (_, index) => `V${index}`);
  const env = Object.fromEntries(names.map((name, index) => [name, `\${V${index + 1}}\${V${index + 1}}xy`]));
  const { disabledReason } = await loadEntry({ command: "x", args: ["${V0}"], env: { ...env, V60: "end" } });
  expect(disabledReason).toMatch(/V\d+ (?:is|are) not set$/);
});

test("what stands in a variable is not searched for others, and a missing one is named once", async () => {
  const own = await loadEntry({ command: "x", args: ["${A}"], env: { A: "${G}" } }, { G: "${B}" });
  expect(own.transport).toMatchObject({ args: ["${B}"], env: { A: "${B}" } });
  const gone = await loadEntry({ command: "x", args: ["${A}", "${A}"], env: { A: "${GONE}" } });
  expect(gone.disabledReason).toBe("the variable GONE is not set");
});

test("an entry's envFile is known in its texts, under its `env`", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-own-"));
  try {
    await writeFile(join(directory, "own.env"), "A=file\nB=${A}\nT=file-token\n");
    const common = { envFile: "${NAME}.env", env: { NAME: "own", A: "env", T: "<${T}>", SEES: "${B}" } };
    const texts = ["${A}", "${T}", "${SEES}"];
    const entries = {
      process: { command: "x", args: texts, ...common },
      remote: { url: "https://h/${T}", headers: { "X-A": texts.join() }, ...common },
    };
    const file = join(directory, "toolyard.json");
    await writeFile(file, JSON.stringify({ mcpServers: entries }));
    const homeDirectories = { config: directory, data: directory };
    const config = await loadConfig({ file, cwd: "/", env: { T: "gateway" }, flags: {}, homeDirectories });
    expect(config.warnings).toEqual([]);
    const [process, remote] = config.servers;
    expect(process?.transport).toMatchObject({
      args: ["env", "<file-token>", "${A}"],
      env: { A: "env", B: "${A}", T: "<file-token>" },
    });
    expect(remote?.transport).toMatchObject({
      url: "https://h/<file-token>",
      headers: { "X-A": "env,<file-token>,${A}" },
    });
    expect(createConfigSecrets(() => config)()).toContain("<file-token>");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a remote server's own variables are hidden, and what people could give stays out of the listing", async () => {
  const env = { KEY: "own-secret-value" };
  const entries = {
    remote: { url: "https://h/${KEY}", env },
    process: { command: "x", args: ["${KEY}"], env: { KEY: "${G}" } },
  };
  const config = await loadValue({ mcpServers: entries }, { env: { G: "gateway-secret" } });
  const secrets = createConfigSecrets(() => config)();
  for (const secret of ["own-secret-value", "gateway-secret"]) expect(secrets).toContain(secret);
  const listed = listConfig({
    config,
    document: undefined,
    flags: {},
    env: {},
    facts: { cores: 1, isShared: false },
  });
  expect(listed.filter(({ path }) => path.includes("refill"))).toEqual([]);
});

function personal(server: ServerConfig, team: ServerOverrides | undefined, user: ServerOverrides | undefined) {
  return personalServer(server, { team, user, isOnlyUser: false });
}

test("what a person gives under `env` is what the template's arguments and variables refer to", async () => {
  const entry = {
    command: "x",
    args: ["--header", "Authorization:${AUTH}", "--region=${REGION:-eu}"],
    env: { AUTH: "Bearer ${TOKEN}", TOKEN: "template" },
    required: { user: ["env.TOKEN"] },
    optional: { user: ["env.REGION"] },
  };
  const server = await loadEntry(entry);
  expect(personal(server, undefined, undefined).missing).toEqual(["env.TOKEN"]);
  const given = personal(server, { env: { TOKEN: "team" } }, { env: { TOKEN: "${G}${AUTH}", REGION: "us" } });
  expect(given).toMatchObject({
    missing: [],
    server: {
      transport: {
        args: ["--header", "Authorization:Bearer ${G}${AUTH}", "--region=us"],
        env: { AUTH: "Bearer ${G}${AUTH}", TOKEN: "${G}${AUTH}", REGION: "us" },
      },
    },
  });
  expect(given.server.hash).not.toBe(server.hash);
});

test("a variable that only people can give is missing until somebody does, and goes before the gateway's", async () => {
  const entry = { command: "x", args: ["${REGION}"], optional: { user: ["env.REGION"] } };
  const server = await loadEntry(entry);
  expect(server.disabledReason).toBeUndefined();
  expect(personal(server, undefined, undefined).missing).toEqual(["env.REGION"]);
  expect(personal(server, { env: { REGION: "eu" } }, undefined)).toMatchObject({
    missing: [],
    server: { transport: { args: ["eu"] } },
  });
  const known = await loadEntry(entry, { REGION: "gateway" });
  expect(personal(known, undefined, undefined).server.transport).toMatchObject({ args: ["gateway"] });
  expect(personal(known, undefined, { env: { REGION: "us" } }).server.transport).toMatchObject({ args: ["us"] });
  const shared = await loadEntry({ ...entry, scope: "shared" });
  expect(shared.disabledReason).toBe("the variable REGION is not set");
});
