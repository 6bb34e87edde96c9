import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { homeDirectories } from "../../../src/config/file/directories.ts";
import { makeCertificates } from "../../harness/certificates.ts";
import { startConnectProxy } from "../../harness/connect-proxy.ts";
import { badServer, startGateway, type RunningGateway } from "../../harness/gateway.ts";
import { runOnTerminal } from "../../harness/terminal.ts";
import { until } from "../../harness/until.ts";
import { startBadHttpServer } from "../../instances/bad-http-server.ts";
import { startTlsFront } from "../../oauth/tls-front.ts";
import { startRegistry } from "./registry-stand-in.ts";
import { openShop, realServers, type Shop } from "./shop.ts";

const written = `{
  // what we use
  "mcpServers": {
    "bad": ${JSON.stringify({ ...badServer() })} // for tests
  }
}
`;
let shop: Shop;
beforeEach(async () => {
  shop = await openShop(written);
});
afterEach(async () => await shop[Symbol.asyncDispose]());

const startHere = async (text: string): Promise<RunningGateway> =>
  await startGateway({ config: text, directory: shop.directory, env: { ...shop.environment, TOOLYARD_DATA_DIR: "" } });
const node = process.execPath;

test("a gateway is found by commands when its file was broken since, and `status` says that the old one counts", async () => {
  await using gateway = await startHere(written);
  // Where a command looks that has neither an option nor a configuration to tell it.
  const usual = homeDirectories({ ...process.env, ...shop.environment }, process.platform).data;
  await mkdir(dirname(usual), { recursive: true });
  await symlink(join(shop.directory, "data"), usual, "junction");
  const run = async (...words: readonly string[]) => await shop.run(words, { TOOLYARD_DATA_DIR: "" });
  await until(async () => (await run("status")).stdout.includes("online"));
  await writeFile(shop.file, '{ "mcpServers": {');
  // The gateway says it of itself, once it has seen the change.
  const refused = "the changed configuration is refused, the old one stays: ";
  await until(async () => (await run("status")).stdout.includes(refused));
  const status = await run("status");
  expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining(`gateway ${gateway.url}`) as string });
  expect(status.stdout).toMatch(/the old one stays: .*toolyard\.json:1:/);
  expect(await run("call", "bad:echo", "text=hi")).toMatchObject({ code: 0 });
  expect(await run("stop")).toMatchObject({ code: 0 });
  expect(await run("status")).toMatchObject({ code: 2, stdout: "" });
});

test("a mistyped field of an entry that is added is named, with the one that was meant", async () => {
  const added = await shop.run(["servers", "add", "new", "--entry", "-"], {}, `{"comand":"x"}`);
  expect(added).toMatchObject({ code: 1, stdout: "" });
  expect(added.stderr).toMatch(
    /^warning: .*mcpServers\.new\.comand: unknown field, ignored; did you mean `command`\?$/m,
  );
  expect(await shop.text()).toBe(written);
});

describe("servers add --examples", () => {
  test("writes three servers behind the others, leaves those of the same names alone, and writes nothing twice", async () => {
    const added = await shop.run(["servers", "add", "--examples"]);
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`added everything, files, memory to ${shop.file}`) as string,
    });
    expect(Object.keys((await shop.config()).mcpServers)).toEqual(["bad", "everything", "files", "memory"]);
    expect(await shop.text()).toContain("// what we use");
    const before = await shop.text();
    expect(await shop.run(["servers", "remove", "files"])).toMatchObject({ code: 0 });
    expect(await shop.run(["servers", "add", "--examples", "--json"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"names":["files"]') as string,
    });
    const again = await shop.run(["servers", "add", "--examples"]);
    expect([again.code, again.stdout]).toEqual([0, `${shop.file} has servers of these names already\n`]);
    expect(JSON.parse((await shop.text()).replaceAll(/ *\/\/.*$/gm, ""))).toMatchObject(
      JSON.parse(before.replaceAll(/ *\/\/.*$/gm, "")),
    );
    expect(await shop.run(["servers", "add", "name", "--examples"])).toMatchObject({ code: 2 });
  });
});

describe("servers add NAME -- command", () => {
  test("tries a real server, shows its tools, and writes it behind the others", async () => {
    const added = await shop.run(["servers", "add", "memory", "--", node, realServers.memory]);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining(`added memory to ${shop.file}`) as string });
    expect(added.stderr).toMatch(/^memory: it answers as \S+ \S+, 9 tools, /m);
    expect(added.stderr).toMatch(/^ {2}create_entities +Create multiple/m);
    expect(await shop.text()).toBe(
      written.replace(
        ` // for tests\n`,
        `, // for tests\n    "memory": {\n      "command": ${JSON.stringify(node)},\n      "args": [${JSON.stringify(realServers.memory)}]\n    }\n`,
      ),
    );
    expect(await readFile(`${shop.file}.bak`, "utf8")).toBe(written);
  });

  test("FAULT 92: its arguments reach it byte for byte, and none of them is an option of ours", async () => {
    const words = ["a b", `"q"`, "$(x)", ";", "--force", "--", "-x=1", "é\n", ""];
    const args = ["servers", "add", "odd", "--no-test", "--", "prog", ...words];
    expect(await shop.run(args)).toMatchObject({ code: 0 });
    expect((await shop.config()).mcpServers["odd"]).toEqual({ command: "prog", args: words });
  });

  test("a server that ends at once is not written, and its last output says why", async () => {
    const args = ["servers", "add", "broken", "--", node, "-e", "console.error('no key here'); process.exit(3)"];
    const refused = await shop.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^broken: cannot start: broken exited with code 3/m);
    expect(refused.stderr).toContain("last output:\n    no key here\n");
    expect(refused.stderr.replace(/^broken: .*node.*$/m, "").split("no key here")).toHaveLength(2);
    expect(refused.stderr).toContain("Its last output says why it ended");
    expect(refused.stderr).not.toContain("took effect");
    expect(refused.stderr).toContain("Nothing was written.");
    expect(await shop.text()).toBe(written);
    expect(await shop.run([...args.slice(0, 2), "--force", ...args.slice(2)])).toMatchObject({ code: 0 });
    expect(Object.keys((await shop.config()).mcpServers)).toEqual(["bad", "broken"]);
  });

  test("FAULT 64: a command that does not exist is said to be that", async () => {
    const refused = await shop.run(["servers", "add", "none", "--", "no-such-program"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/none: cannot start "no-such-program"/);
    expect(await shop.text()).toBe(written);
  });

  test("with --dry-run is tried and not written, and --entry reads the whole entry from a file or from stdin", async () => {
    const entry = JSON.stringify({ ...badServer("--behaviours=canary"), env: { API_TOKEN: "hunter2hunter2" } });
    await writeFile(join(shop.directory, "entry.json"), entry);
    const tried = await shop.run(["servers", "add", "new", "--dry-run", "--json", "--entry", "entry.json"]);
    expect([tried.code, JSON.parse(tried.stdout)]).toEqual([
      0,
      expect.objectContaining({ key: "new", isUsable: true, code: null, offers: expect.anything() as unknown }),
    ]);
    expect(tried.stdout + tried.stderr).not.toContain("hunter2");
    expect(await shop.text()).toBe(written);
    expect(existsSync(`${shop.file}.bak`)).toBe(false);
    const failed = await shop.run(["servers", "add", "none", "--dry-run", "--", "no-such-program"]);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/^none: cannot start "no-such-program": /) as string,
    ]);
    const added = await shop.run(["servers", "add", "new", "--entry", "-"], {}, entry);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("added new") as string });
    const hidden = { ...(JSON.parse(entry) as object), env: { API_TOKEN: "${API_TOKEN}" } };
    expect((await shop.config()).mcpServers["new"]).toEqual(hidden);
    expect((await shop.run(["config", "check"])).code).toBe(0);
  });

  test.each([
    [["x", "--entry", "-"], "[]", "--entry -: expected one JSON object"],
    [["x", "--entry", "-"], "{", "--entry -: expected one JSON object"],
    [["x", "--entry", "nowhere.json"], "", "cannot be read: ENOENT"],
    [["x", "--entry", `{"command":"a"}`], "", "--entry takes the name of a file, and was given JSON"],
    [["--entry", "-"], "{}", "expected a name beside --entry"],
    [["x", "https://a.example/mcp", "--entry", "-"], "{}", "expected a name beside --entry"],
    [["x", "--entry", "-", "--env", "A=b"], `{"command":"a"}`, "--entry has its variables"],
  ])("%j with %j as input is refused before anything is started", async (words, input, message) => {
    const refused = await shop.run(["servers", "add", ...words], {}, input);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain(message);
    expect(await shop.text()).toBe(written);
  });

  test("a secret becomes a variable, is used for the trial, and is shown nowhere", async () => {
    const script = `if (process.env.API_TOKEN !== "hunter2hunter2") process.exit(1); import(${JSON.stringify(realServers.memory)})`;
    const options = ["--env", "API_TOKEN=hunter2hunter2", "--env", "LEVEL=info"];
    const added = await shop.run(["servers", "add", "keyed", ...options, "--", node, "-e", script]);
    expect(added).toMatchObject({ code: 0 });
    expect(added.stderr).toContain("API_TOKEN is kept encrypted, and the file refers to it.");
    expect((await shop.run(["config", "keep"])).stdout).toBe("API_TOKEN\n");
    expect((await shop.run(["servers", "test", "keyed"])).code).toBe(0);
    expect((await shop.config()).mcpServers["keyed"]?.["env"]).toEqual({ API_TOKEN: "${API_TOKEN}", LEVEL: "info" });
    expect(added.stdout + added.stderr.replaceAll(script, "")).not.toMatch(/=hunter2|: hunter2/);
    const literal = ["servers", "add", "written", "--literal-secrets", "--no-test", ...options, "--", node];
    expect(await shop.run(literal)).toMatchObject({ code: 0 });
    expect((await shop.config()).mcpServers["written"]?.["env"]).toMatchObject({ API_TOKEN: "hunter2hunter2" });
  });

  test("two servers have each their own key, although both call it the same", async () => {
    const add = async (name: string, key: string) =>
      await shop.run(["servers", "add", name, "--no-test", "--env", `API_TOKEN=${key}`, "--", node, "-v"]);
    expect([(await add("one", "first-first")).code, (await add("two", "second-second")).code]).toEqual([0, 0]);
    expect((await add("three", "first-first")).code).toBe(0);
    const { mcpServers } = await shop.config();
    const envOf = (name: string) => mcpServers[name]?.["env"];
    expect([envOf("one"), envOf("two"), envOf("three")]).toEqual([
      { API_TOKEN: "${API_TOKEN}" },
      { API_TOKEN: "${TWO_API_TOKEN}" },
      { API_TOKEN: "${API_TOKEN}" },
    ]);
  });

  test("a command for the key runs once in each command that adds a secret, however often the file is read", async () => {
    const count = join(shop.directory, "count");
    const key = Buffer.alloc(32, 7).toString("base64");
    const env = { TOOLYARD_KEY_COMMAND: `echo run >> '${count}'; echo ${key}` };
    const runs = async (): Promise<number> => (await readFile(count, "utf8").catch(() => "")).split("\n").length - 1;
    const { command, args } = badServer();
    const add = async (name: string) =>
      await shop.run(["servers", "add", name, "--env", `API_TOKEN=${name}-${name}`, "--", command, ...args], env);
    expect(await add("first")).toMatchObject({ code: 0 });
    expect(await runs()).toBe(1);
    // This one reads the values that are kept already as well.
    expect(await add("second")).toMatchObject({ code: 0 });
    expect(await runs()).toBe(2);
    expect((await shop.run(["config", "check"], env)).code).toBe(0);
    expect(await runs()).toBe(3);
  });

  test("relative paths mean what they meant where they were typed", async () => {
    const env = { TOOLYARD_CONFIG: "" };
    await writeFile(join(shop.directory, "server.mjs"), `await import(${JSON.stringify(realServers.memory)});`);
    const added = await shop.run(
      ["servers", "add", "here", "--config", "sub/toolyard.json", "--", node, "server.mjs"],
      env,
    );
    expect(added).toMatchObject({ code: 1, stderr: expect.stringContaining("does not exist") as string });
    await mkdir(join(shop.directory, "sub"));
    const again = await shop.run(
      ["servers", "add", "here", "--config", "sub/toolyard.json", "--", node, "server.mjs"],
      env,
    );
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`it runs in ${shop.directory}`) as string });
    const { mcpServers } = JSON.parse(await readFile(join(shop.directory, "sub", "toolyard.json"), "utf8")) as {
      mcpServers: object;
    };
    expect(mcpServers).toEqual({ here: { command: node, args: ["server.mjs"], cwd: shop.directory } });
    const named = ["servers", "add", "own", "--no-test", "--config", "sub/toolyard.json", "--", "./server.mjs", "-x"];
    expect(await shop.run(named, env)).toMatchObject({ code: 0 });
    expect(await readFile(join(shop.directory, "sub", "toolyard.json"), "utf8")).toContain(
      JSON.stringify(join(shop.directory, "server.mjs")),
    );
  });

  test("a name that is taken, and what is no source, are refused before anything is started", async () => {
    const taken = await shop.run(["servers", "add", "bad", "--", node]);
    expect(taken).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/toolyard\.json:4:\d+: there is a server "bad" already/) as string,
    });
    for (const [args, message] of [
      [["add", "x", "no name"], 'what is "no name"?'],
      [["add", "x/y"], 'where does "x/y" come from?'],
      [["add", "--", "cmd"], "expected a name before `--`"],
      [["add", "npm:$(touch pwned)"], "where does"],
      [["add", "x", "--env", "novalue", "--", "cmd"], "--env: expected NAME=VALUE"],
      [["add", "x", "--header", "A=b", "--", "cmd"], "--header is for URLs"],
      [["frobnicate"], 'cannot "frobnicate"'],
    ] as const)
      expect(await shop.run(["servers", ...args])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message) as string,
      });
    expect(await shop.text()).toBe(written);
    expect(existsSync(join(shop.directory, "pwned"))).toBe(false);
  });

  test("FAULT 87: a file that is broken is told with line and column, and stays as it is", async () => {
    await using broken = await openShop(`{\n  "mcpServers": { "a" 1 }\n}\n`);
    const refused = await broken.run(["servers", "add", "x", "--no-test", "--", node]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/toolyard\.json:2:\d+: expected a colon/) as string,
    });
    expect(await broken.text()).toContain(`"a" 1`);
  });

  test("without any file, the user's own is made, for its owner only", async () => {
    await using empty = await openShop();
    const env = { TOOLYARD_CONFIG: "" };
    expect(await empty.run(["servers", "add", "memory", "--", node, realServers.memory], env)).toMatchObject({
      code: 0,
    });
    const file = join(empty.directory, "config", "toolyard", "toolyard.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const listed = await empty.run(["servers"], env);
    expect(listed.stdout).toMatch(/^memory +not running$/m);
    expect(listed.stderr).toContain("`toolyard serve` starts one");
    expect(await readdir(join(empty.directory, "config", "toolyard"))).toEqual(["toolyard.json"]);
  });
});

describe("servers add NAME URL", () => {
  test("reaches it with its headers, and writes them", async () => {
    await using remote = await startBadHttpServer(0);
    const added = await shop.run(["servers", "add", "far", remote.url, "--header", "X-Team=blue"]);
    expect(added).toMatchObject({ code: 0 });
    expect((await shop.config()).mcpServers["far"]).toEqual({
      type: "http",
      url: remote.url,
      headers: { "X-Team": "blue" },
    });
  });

  test("one where nobody listens is not written", async () => {
    const refused = await shop.run(["servers", "add", "far", "http://127.0.0.1:1/mcp"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^far: does not answer: /m);
    expect(await shop.text()).toBe(written);
  });
});

describe("servers add from the MCP registry", () => {
  const everything = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "io.github.modelcontextprotocol/everything",
    description: "Every part of the protocol, for tests.",
    version: "2026.8.31",
    packages: [
      {
        registryType: "npm",
        identifier: "@modelcontextprotocol/server-everything",
        version: "2026.8.31",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "stdio" }],
        environmentVariables: [
          { name: "EVERYTHING_API_KEY", description: "a key", isRequired: true, isSecret: true },
          { name: "REGION", description: "where", isRequired: true, choices: ["eu", "us"] },
          { name: "LOG_LEVEL", default: "info" },
        ],
      },
    ],
    remotes: [{ type: "streamable-http", url: "https://everything.example.com/mcp" }],
  };
  /** What npx would install is installed here: the stand-in checks how it is called, and starts the real server. */
  const npx = `[ "$1 $2 $3" = "-y @modelcontextprotocol/server-everything@2026.8.31 stdio" ] || exit 9; exec '${node}' '${realServers.everything}' stdio`;

  test("makes a pinned entry of its server.json, with secrets as variables, and tries it", async () => {
    await using registry = await startRegistry([everything]);
    await shop.addProgram("npx", npx);
    const env = { TOOLYARD_REGISTRY_URL: registry.url, EVERYTHING_API_KEY: "sesame-sesame" };
    const added = await shop.run(["servers", "add", everything.name, "--env", "REGION=eu"], env);
    expect(added).toMatchObject({ code: 0 });
    expect(registry.asked).toEqual([`/v0.1/servers/${encodeURIComponent(everything.name)}/versions/latest`]);
    expect((await shop.config()).mcpServers["everything"]).toEqual({
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-everything@2026.8.31", "stdio"],
      env: { EVERYTHING_API_KEY: "${EVERYTHING_API_KEY}", REGION: "eu", LOG_LEVEL: "info" },
    });
    expect(added.stderr).toContain("also offered as remote (--from)");
    expect(added.stderr).toMatch(/^everything: it answers as .*, \d+ tools/m);
    expect(added.stdout + added.stderr).not.toContain("sesame");
  });

  test("says what it needs, and takes only what it offers", async () => {
    await using registry = await startRegistry([everything]);
    const env = { TOOLYARD_REGISTRY_URL: registry.url };
    const add = async (...more: string[]) =>
      await shop.run(["servers", "add", everything.name, "--no-test", ...more], env);
    expect(await add("--from", "npm")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /it needs REGION \(where; one of eu, us\)\n {2}Give it with --env REGION=/,
      ) as string,
    });
    expect(await add("--from", "npm", "--env", "REGION=mars")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("REGION must be one of eu, us") as string,
    });
    expect(await add("--from", "oci")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("it is offered as npm, remote") as string,
    });
    expect(await shop.text()).toBe(written);
  });

  test("asks a person on a terminal for what it needs, and again when that is none of the choices", async () => {
    await using registry = await startRegistry([everything]);
    const env = { ...shop.environment, TOOLYARD_REGISTRY_URL: registry.url };
    const args = ["servers", "add", everything.name, "--from", "npm", "--no-test"];
    await using terminal = runOnTerminal({ args, env, cwd: shop.directory });
    const question = "REGION (where; eu | us): ";
    await until(() => terminal.text().includes(question));
    terminal.type("mars\r");
    await until(() => terminal.text().split(question).length === 3);
    terminal.type("us\r");
    await until(() => terminal.text().includes("EVERYTHING_API_KEY (of everything, which is not set)"));
    terminal.type("typed-at-the-terminal\r");
    await until(() => terminal.text().includes("added everything"));
    expect((await shop.config()).mcpServers["everything"]?.["env"]).toMatchObject({
      REGION: "us",
      EVERYTHING_API_KEY: "${EVERYTHING_API_KEY}",
    });
    expect(terminal.text()).toContain("EVERYTHING_API_KEY is kept encrypted");
    expect(terminal.text()).not.toContain("typed-at");
    expect((await shop.run(["config", "check"])).code).toBe(0);
  });

  test("a name that is not there is answered with those that are like it", async () => {
    await using registry = await startRegistry([everything]);
    const refused = await shop.run(["servers", "add", "io.github.other/everything"], {
      TOOLYARD_REGISTRY_URL: registry.url,
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`has no server io.github.other/everything\n  Did you mean ${everything.name}?`);
  });

  test("what was removed is refused, and a deprecated one is told", async () => {
    const old = { ...everything, name: "io.github.x/old" };
    await using registry = await startRegistry([everything, old], {
      [everything.name]: "deleted",
      [old.name]: "deprecated",
    });
    const env = { TOOLYARD_REGISTRY_URL: registry.url };
    expect(await shop.run(["servers", "add", everything.name], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was removed from the registry") as string,
    });
    const added = await shop.run(["servers", "add", old.name, "--from", "remote", "--no-test"], env);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("is deprecated") as string });
    expect((await shop.config()).mcpServers["old"]).toEqual({
      type: "http",
      url: "https://everything.example.com/mcp",
    });
  });

  test.each([
    ["no JSON", 200, "<html>"],
    ["an error", 500, "{}"],
    ["something else", 200, `{ "server": { "name": 7 } }`],
  ])("a registry that answers with %s is said to do so", async (_what, code, body) => {
    const http = createServer((_request, response) => response.writeHead(code).end(body));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const env = { TOOLYARD_REGISTRY_URL: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
    const refused = await shop.run(["servers", "add", everything.name], env);
    http.close();
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/the registry http\S+ cannot be asked: |this is no server\.json: name: /);
  });
});

describe("servers add of a plain name", () => {
  const noIndex = { UV_DEFAULT_INDEX: "http://127.0.0.1:1" };

  test("is a tested server first, whose key is kept, and whose values that are not given stay references", async () => {
    await shop.addProgram(
      "npm",
      `[ "$*" = "view @modelcontextprotocol/server-slack version --json" ] && echo '"1.2.3"'`,
    );
    const options = ["--env", "SLACK_BOT_TOKEN=xoxb-of-the-test", "--no-test"];
    const added = await shop.run(["servers", "add", "slack", ...options]);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("pinned to 1.2.3") as string });
    expect((await shop.config()).mcpServers["slack"]).toEqual({
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-slack@1.2.3"],
      env: { SLACK_BOT_TOKEN: "${SLACK_BOT_TOKEN}", SLACK_TEAM_ID: "${SLACK_TEAM_ID:-placeholder}" },
    });
    expect((await shop.run(["config", "keep"])).stdout).toBe("SLACK_BOT_TOKEN\n");
  });

  test("is asked for what it needs on a terminal, and Enter leaves that as it is", async () => {
    await shop.addProgram("npm", `echo '"1.2.3"'`);
    const args = ["servers", "add", "slack", "--no-test"];
    await using terminal = runOnTerminal({ args, env: shop.environment, cwd: shop.directory });
    await until(() => terminal.text().includes("SLACK_BOT_TOKEN: kept encrypted; Enter leaves it out"));
    terminal.type("xoxb-typed-in\r");
    await until(() => terminal.text().includes("SLACK_TEAM_ID: "));
    terminal.type("\r");
    await until(() => terminal.text().includes("added slack"));
    expect((await shop.config()).mcpServers["slack"]?.["env"]).toEqual({
      SLACK_BOT_TOKEN: "${SLACK_BOT_TOKEN}",
      SLACK_TEAM_ID: "${SLACK_TEAM_ID:-placeholder}",
    });
    expect(terminal.text()).not.toContain("xoxb-typed-in");
  });

  test("is a package where one of npm and PyPI has it, and is refused where both or none have", async () => {
    await shop.addProgram("npm", `[ "$2" = "pypi-only" ] && exit 1; [ "$2" = "none" ] && exit 1; echo '"4.5.6"'`);
    const http = createServer((request, response) =>
      /\/(?:both|pypi-only)\/$/.test(request.url ?? "")
        ? response.end(JSON.stringify({ name: "x", versions: ["0.9.0"] }))
        : response.writeHead(404).end(),
    );
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const env = { UV_DEFAULT_INDEX: `http://127.0.0.1:${(http.address() as AddressInfo).port}/simple` };
    const add = async (name: string) => await shop.run(["servers", "add", name, "--no-test"], env);
    expect(await add("npm-only")).toMatchObject({ code: 0 });
    expect(await add("@scope/npm")).toMatchObject({ code: 0 });
    expect(await add("pypi-only")).toMatchObject({ code: 0 });
    expect(await add("both")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Write npm:both or pypi:both.") as string,
    });
    expect(await add("none")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('neither npm nor PyPI has a package "none"') as string,
    });
    http.close();
    const { mcpServers } = await shop.config();
    expect([mcpServers["npm-only"], mcpServers["npm"], mcpServers["pypi-only"]]).toEqual([
      { command: "npx", args: ["-y", "npm-only@4.5.6"] },
      { command: "npx", args: ["-y", "@scope/npm@4.5.6"] },
      { command: "uvx", args: ["pypi-only@0.9.0"] },
    ]);
    expect(await shop.run(["servers", "add", "github@1.0.0", "--no-test"], noIndex)).toMatchObject({ code: 0 });
    expect((await shop.config()).mcpServers["github"]?.["args"]).toEqual(["-y", "github@1.0.0"]);
  });
});

describe("servers add npm:package and pypi:package", () => {
  test("pins the newest version, which npm itself is asked for", async () => {
    await shop.addProgram("npm", `[ "$*" = "view @scope/files version --json" ] && echo '"4.5.6"'`);
    const added = await shop.run(["servers", "add", "npm:@scope/files", "--no-test"]);
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("pinned to 4.5.6") as string });
    expect((await shop.config()).mcpServers["files"]).toEqual({ command: "npx", args: ["-y", "@scope/files@4.5.6"] });
  });

  test("asks the index that uv uses for a release that is no pre-release", async () => {
    const http = createServer((request, response) =>
      request.url === "/simple/mcp-server-git/"
        ? response.end(JSON.stringify({ name: "x", versions: ["0.9.0", "0.10.1", "0.11.0rc1"] }))
        : response.writeHead(404).end(),
    );
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const env = { UV_DEFAULT_INDEX: `http://127.0.0.1:${(http.address() as AddressInfo).port}/simple` };
    expect(await shop.run(["servers", "add", "git", "pypi:mcp_server.git", "--no-test"], env)).toMatchObject({
      code: 0,
    });
    expect((await shop.config()).mcpServers["git"]).toEqual({ command: "uvx", args: ["mcp_server.git@0.10.1"] });
    expect(await shop.run(["servers", "add", "pypi:none", "--no-test"], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("or give a version: pypi:none==1.2.3") as string,
    });
    http.close();
  });

  test("registry and index are asked through the proxy that the environment names, and not where it excepts them", async () => {
    const names = ["registry.company.invalid", "index.company.invalid"];
    const certificates = makeCertificates(shop.directory, names);
    await using proxy = await startConnectProxy();
    await using front = await startTlsFront(certificates);
    const server = { name: "com.company/mail", version: "1.0.0", description: "Mail" };
    const remotes = [{ type: "streamable-http", url: "https://mail.company.example/mcp" }];
    await using registry = await startRegistry([{ ...server, remotes }]);
    front.target = Number(new URL(registry.url).port);
    const [registryUrl, index] = names.map((name) => `https://${name}:${front.port}`);
    const env = {
      HTTPS_PROXY: proxy.url(),
      NO_PROXY: "",
      NODE_EXTRA_CA_CERTS: certificates.path("ca"),
      TOOLYARD_REGISTRY_URL: registryUrl ?? "",
      UV_DEFAULT_INDEX: `${index ?? ""}/simple`,
    };
    expect(await shop.run(["servers", "add", server.name, "--no-test"], env)).toMatchObject({
      code: 0,
      stderr: expect.any(String),
    });
    expect((await shop.config()).mcpServers["mail"]).toMatchObject({ url: "https://mail.company.example/mcp" });
    expect(proxy.heads[0]).toContain(`CONNECT ${names[0] ?? ""}:`);
    const asked = proxy.heads.length;
    expect(await shop.run(["servers", "add", "pypi:none", "--no-test"], env)).toMatchObject({ code: 1 });
    expect(proxy.heads.slice(asked).join("")).toContain(`CONNECT ${names[1] ?? ""}:`);
    expect(registry.asked.at(-1)).toBe("/simple/none/");
    const known = proxy.heads.length;
    const excepted = await shop.run(["servers", "add", "again", server.name, "--no-test"], {
      ...env,
      NO_PROXY: ".company.invalid",
    });
    expect(excepted).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be asked: E") as string });
    expect(proxy.heads).toHaveLength(known);
    const refused = await shop.run(["servers", "add", "again", server.name, "--no-test"], {
      ...env,
      HTTPS_PROXY: proxy.url("me:wrong@"),
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("cannot be asked");
    expect(refused.stderr).not.toContain("wrong");
  });

  test("a version that is given is taken, and nobody is asked", async () => {
    const env = { UV_DEFAULT_INDEX: "http://127.0.0.1:1", npm_config_registry: "http://127.0.0.1:1" };
    expect(await shop.run(["servers", "add", "npm:files@1.0.0", "--no-test"], env)).toMatchObject({ code: 0 });
    expect(await shop.run(["servers", "add", "pypi:git==2.0", "--no-test"], env)).toMatchObject({ code: 0 });
    const { mcpServers } = await shop.config();
    expect(mcpServers["files"]?.["args"]).toEqual(["-y", "files@1.0.0"]);
    expect(mcpServers["git"]?.["args"]).toEqual(["git@2.0"]);
  });
});

describe("beside a running gateway", () => {
  test("what is added, switched and removed is in force when the command says so", async () => {
    await using gateway = await startHere(written);
    const env = { TOOLYARD_DATA_DIR: join(gateway.directory, "data") };
    const run = async (...args: string[]) => await shop.run(["servers", ...args], env);
    const added = await run("add", "memory", "--", node, realServers.memory);
    expect(added).toMatchObject({ code: 0, stderr: expect.not.stringContaining("refuses") as string });
    expect(added.stdout).toMatch(/^The running gateway has applied it: memory: online, 9 tools$/m);
    expect((await run()).stdout).toMatch(/^memory +online +9 +~?[\d,]+$/m);
    expect((await run("disable", "memory")).stdout).toContain("The running gateway has applied it.");
    expect((await run()).stdout).toMatch(/^memory +off +- +- +toolyard servers enable memory$/m);
    expect((await run("enable", "memory")).stdout).toMatch(/memory: (online|asleep.*), 9 tools/);
    expect((await run("remove", "memory")).stdout).toContain("The running gateway has applied it.");
    const listed = JSON.parse((await run("--json")).stdout) as { running: boolean; servers: { server: string }[] };
    expect(listed.running).toBe(true);
    expect(listed.servers.map(({ server }) => server)).toEqual(["bad"]);
    expect(await shop.text()).toBe(written);
  });

  test("a server that lacks a variable has a wrong entry there, and the reason is said", async () => {
    await using gateway = await startHere(written);
    const env = { TOOLYARD_DATA_DIR: join(gateway.directory, "data"), MEMORY_TOKEN: "only-here-only-here" };
    const args = ["servers", "add", "memory", "--env", "MEMORY_TOKEN=${MEMORY_TOKEN}", "--", node, realServers.memory];
    const added = await shop.run(args, env);
    expect(added.stdout).toContain(
      "memory: wrong entry: toolyard config keep MEMORY_TOKEN  # the variable MEMORY_TOKEN is not set",
    );
    const listed = await shop.run(["servers"], env);
    expect(listed.stdout).toMatch(/^memory +wrong entry .*the variable MEMORY_TOKEN is not set$/m);
  });
});

describe("servers test, enable, disable, remove", () => {
  test("a server is tried apart, also one that is switched off, and the file stays as it is", async () => {
    expect(await shop.run(["servers", "disable", "bad"])).toMatchObject({ code: 0 });
    const before = await shop.text();
    const tried = await shop.run(["servers", "test", "bad", "--json"]);
    expect(tried.code).toBe(0);
    expect(JSON.parse(tried.stdout)).toMatchObject({ key: "bad", isUsable: true, word: "online" });
    expect(await shop.text()).toBe(before);
    expect(await shop.run(["servers", "test", "none"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There are: bad.") as string,
    });
  });

  test("disable and enable give back the file as it was, byte for byte, in every spelling", async () => {
    for (const [entry, off] of [
      [`{ "command": "x" }`, `{ "command": "x", "enabled": false }`],
      [`{ "command": "x", "disabled": false }`, `{ "command": "x", "disabled": true }`],
    ] as const) {
      const text = `\uFEFF{\r\n\t"servers": {\r\n\t\t"a": ${entry}, // one\r\n\t\t"b": { "command": "y" },\r\n\t},\r\n}\r\n`;
      await using own = await openShop(text);
      expect(await own.run(["servers", "disable", "a"])).toMatchObject({ code: 0 });
      expect(await own.text()).toBe(text.replace(entry, off));
      expect((await own.run(["servers", "disable", "a"])).stdout).toContain("a was disabled already");
      expect(await own.run(["servers", "enable", "a"])).toMatchObject({ code: 0 });
      expect(await own.text()).toBe(text.replace(entry, `{ "command": "x" }`));
    }
  });

  test("a server that another list of the file switches off is not said to be enabled", async () => {
    await using own = await openShop(`{ "mcpServers": { "a": { "command": "x" } }, "mcp": { "excluded": ["a"] } }`);
    const refused = await own.run(["servers", "enable", "a"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("switches a off") as string });
  });

  test("what is not there cannot be removed, and what is named wrongly is told with the names", async () => {
    for (const action of ["remove", "enable", "disable"])
      expect(await shop.run(["servers", action, "none"])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("There are: bad.") as string,
      });
    expect(await shop.run(["servers", "remove"])).toMatchObject({ code: 2 });
  });
});
