import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../../harness/gateway.ts";
import { get, post, run } from "../../harness/rest.ts";
import { execute, rpc } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { discover, standingOf } from "../../instances/observing.ts";
import { failureOf } from "../servers/faulty-gateway.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-clients-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const configOf = (mcpServers: object): string => JSON.stringify({ mcpServers }, null, 1);

async function untilTools(gateway: RunningGateway, server: string, tools: number): Promise<void> {
  await until(async () => (await standingOf(gateway.url, server))?.tools === tools);
}

/** The environment that a server's process has. */
async function environmentOf(gateway: RunningGateway, server: string): Promise<Record<string, string>> {
  return JSON.parse((await execute(gateway.url, `${server}:env`)).content[0].text);
}

test("a tool that another client's fields switch off is not listed, found or called anywhere", async () => {
  const tools = (...flags: string[]) => badServer("--tools", "3", ...flags);
  await using gateway = await startGateway({
    config: configOf({
      roo: { ...tools(), disabledTools: ["tool-2"], alwaysAllow: ["tool-2"] },
      gemini: { ...tools(), includeTools: ["tool-1", "tool-2"], excludeTools: ["tool-2"], trust: true },
      codex: { ...tools(), enabled_tools: ["tool-1"] },
    }),
    directory,
  });
  await untilTools(gateway, "roo", 2);
  await untilTools(gateway, "gemini", 1);
  await untilTools(gateway, "codex", 1);
  const off = ["roo", "gemini", "codex"];
  const texts = new Map<string, string>();
  for (const path of ["/mcp/flat", ...off.map((server) => `/mcp/server/${server}`)])
    texts.set(path, (await rpc(`${gateway.url}${path}`, "tools/list")).text);
  for (const server of off)
    texts.set(
      `namespace ${server}`,
      (await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", { name: `${server}__list_tools`, arguments: {} })).text,
    );
  for (const query of ["tool-2", "the tool number 2"])
    texts.set(query, JSON.stringify((await discover(gateway.url, { query, limit: 50 })).tools));
  for (const path of ["/api/tools?limit=100", "/api/tools?limit=100&query=tool-2", "/list/apps/roo/tools"])
    texts.set(path, JSON.stringify((await get(`${gateway.url}${path}`)).json));
  for (const [place, text] of texts) {
    expect([place, text.includes("tool-1") || text.includes("tool_1")]).toEqual([place, true]);
    expect([place, /tool[-_]2/.test(text.replaceAll('"query":"tool-2"', ""))]).toEqual([place, false]);
  }
  for (const server of off) {
    expect(failureOf(await execute(gateway.url, `${server}:tool-2`)).code).toBe("TOOL_UNKNOWN");
    const direct = await rpc(`${gateway.url}/mcp/server/${server}`, "tools/call", { name: "tool-2", arguments: {} });
    expect(direct.text).not.toContain('"pid"');
    expect((await run(gateway.url, `${server}:tool-2`)).status).toBe(404);
    expect((await get(`${gateway.url}/api/tools/${server}:tool-2`)).status).toBe(404);
    expect((await execute(gateway.url, `${server}:tool-1`)).isError).not.toBe(true);
  }
  expect(gateway.stderr()).not.toContain("unknown field");
});

test("a server whose list of hidden tools is misspelled offers nothing, and says why", async () => {
  await using gateway = await startGateway({
    config: configOf({
      typo: { ...badServer(), disabledtools: ["ping"] },
      denies: { ...badServer(), denyTools: ["ping"] },
    }),
    directory,
  });
  for (const [server, meant] of [
    ["typo", "did you mean `disabledTools`?"],
    ["denies", "did you mean `tools.allow` or `tools.deny`?"],
  ] as const) {
    const refused = failureOf(await execute(gateway.url, `${server}:ping`));
    expect(refused.code).toBe("SERVER_DISABLED");
    expect(refused.message).toContain(meant);
  }
  expect((await rpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result.tools).toEqual([]);
});

test("values of an envFile reach the process and no output; a change in it is applied", async () => {
  const file = join(directory, "my.env");
  const config = configOf({
    a: { ...badServer("--behaviours", "env"), envFile: "my.env", env: { PORT: 3001, DEBUG: true, VERSION: 3.5 } },
    lacks: { ...badServer("--behaviours", "env"), envFile: "none.env" },
  });
  await writeFile(file, "FILE_TOKEN=canary-file-1111\n");
  await using gateway = await startGateway({ config, directory, args: ["--log-level", "debug"] });
  await untilTools(gateway, "a", 1);
  expect(await environmentOf(gateway, "a")).toMatchObject({
    FILE_TOKEN: "canary-file-1111",
    PORT: "3001",
    DEBUG: "true",
    VERSION: "3.5",
  });
  expect(await standingOf(gateway.url, "lacks")).toMatchObject({
    status: "disabled",
    reason: expect.stringMatching(/^toolyard\.json:\d+:\d+: mcpServers\.lacks\.envFile: none\.env: no such file$/),
  });

  await writeFile(file, "FILE_TOKEN=canary-file-2222\n");
  await until(async () => (await environmentOf(gateway, "a"))["FILE_TOKEN"] === "canary-file-2222");
  await writeFile(join(directory, "none.env"), "FILE_TOKEN=canary-file-3333\n");
  await untilTools(gateway, "lacks", 1);
  expect((await environmentOf(gateway, "lacks"))["FILE_TOKEN"]).toBe("canary-file-3333");
  expect(gateway.stdout() + gateway.stderr()).not.toContain("canary-file");
});

test("one wrong entry is shown with its place and reason, while the others run; mended, it is started", async () => {
  const good = badServer("--tools", "2");
  const wrong = { command: 7, args: "x" };
  await using gateway = await startGateway({ config: configOf({ wrong, good }), directory });
  await untilTools(gateway, "good", 2);
  const reason = "toolyard.json:4:15: mcpServers.wrong.command: expected a string, found a number";
  const second = "toolyard.json:5:12: mcpServers.wrong.args: expected an array, found a string";
  expect(await standingOf(gateway.url, "wrong")).toMatchObject({ status: "disabled", reason: `${reason}; ${second}` });
  expect(failureOf(await execute(gateway.url, "wrong:x"))).toMatchObject({
    code: "SERVER_DISABLED",
    message: expect.stringContaining(reason),
  });
  expect(JSON.stringify((await get(`${gateway.url}/api/servers`)).json)).toContain(reason);
  await until(() => gateway.stderr().includes(`is disabled: ${reason}`));

  await writeFile(gateway.configFile, configOf({ wrong: good, good: { ...good, args: 3 } }));
  await untilTools(gateway, "wrong", 2);
  expect(await standingOf(gateway.url, "good")).toMatchObject({
    status: "disabled",
    reason: expect.stringContaining("mcpServers.good.args: expected an array, found a number"),
  });
  expect((await post(`${gateway.url}/execute/${encodeURIComponent("wrong:tool-1")}`)).status).toBe(200);
});

test("an input of VS Code is a variable; without one its server is disabled and says which to set", async () => {
  const entry = { ...badServer("--behaviours", "env"), env: { TOKEN: "${input:token}" } };
  const other = { ...badServer("--behaviours", "env"), env: { TOKEN: "${input:other}" } };
  const inputs = [{ type: "promptString", id: "token", password: true }];
  await using gateway = await startGateway({
    config: JSON.stringify({ inputs, servers: { entry, other } }),
    directory,
    env: { TOOLYARD_INPUT_TOKEN: "canary-input-5555" },
  });
  await untilTools(gateway, "entry", 1);
  expect((await environmentOf(gateway, "entry"))["TOKEN"]).toBe("canary-input-5555");
  expect((await standingOf(gateway.url, "other")).reason).toContain("set TOOLYARD_INPUT_OTHER");
  expect(gateway.stdout() + gateway.stderr()).not.toContain("canary-input");
});

test("a file of another client is refused by its name, and every problem is told", async () => {
  const serve = async (content: string, name = "toolyard.json") => {
    const file = join(directory, name);
    await writeFile(file, content);
    return await runCommand(["serve", "--config", file, "--port", "0", "--data-dir", join(directory, "data")]);
  };
  const codex = await serve('[mcp_servers.docs]\ncommand = "npx"\n', "config.toml");
  expect(codex).toMatchObject({ code: 2, stderr: expect.stringContaining("this is Codex's configuration, in TOML") });
  const misspelt = await serve('{ "mcpservers": { "a": { "command": "x" } } }');
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean `mcpServers`?") });
  const many = await serve('{ "mcpServers": { "a": { "command": 7 } },\n "toolyard": { "port": "x", "exposure": 1 } }');
  expect(many.code).toBe(2);
  for (const place of ["2:24: toolyard.port", "2:41: toolyard.exposure", "1:37: mcpServers.a.command"])
    expect(many.stderr).toContain(`toolyard.json:${place}: expected`);
});
