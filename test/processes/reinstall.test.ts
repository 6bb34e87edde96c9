import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startBadHttp } from "../protocol/servers.ts";
import { Installation } from "./installation.ts";

const everything = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

let directory: string;
let installation: Installation;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "toolyard-reinstall-")));
  installation = new Installation(join(directory, "package"));
  await installation.addBuild();
  await installation.addPackages();
});

afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function start(toolyard: object = {}): Promise<RunningGateway> {
  const gateway = await startGateway({
    config: { mcpServers: { every: { command: process.execPath, args: [everything] } }, toolyard },
    main: installation.main,
    directory,
  });
  // It is up, and nothing else of the gateway has been used yet.
  await until(async () => (await execute(gateway.url, "every:echo", { message: "hello" })).isError !== true);
  return gateway;
}

async function statusOf(): Promise<string> {
  const place = ["--config", join(directory, "toolyard.json"), "--data-dir", join(directory, "data")];
  const { stdout, stderr } = await runCommand(["status", ...place]);
  return stdout + stderr;
}

/** On a busy machine, an engine that was just started may take longer than a search may: then it is searched again. */
async function search(url: string, query = "echo a message"): Promise<string> {
  const params = { name: "discover_mcp_tools", arguments: { query } };
  return await until(async () => {
    const said = JSON.stringify((await rpc(`${url}/mcp`, "tools/call", params)).json);
    return !said.includes("engine took longer than") && said;
  });
}

async function expectReplaced(url: string, path: string): Promise<void> {
  const answer = await get(`${url}${path}`);
  expect(answer.status).toBe(503);
  expect(answer.json.code).toBe("GATEWAY_REPLACED");
  expect(answer.text).toContain("start the gateway again");
}

async function expectAllThere(url: string): Promise<void> {
  await until(async () => (await get(`${url}/openapi.json`)).status === 200);
  await until(async () => (await get(`${url}/metrics`)).status === 200);
  await until(async () => (await search(url)).includes("every:echo"));
  await until(async () =>
    JSON.stringify(await execute(url, "every:echo", { message: 7 })).includes("ARGUMENTS_INVALID"),
  );
  expect(await statusOf()).not.toContain("restart it");
}

test("a running gateway outlives `npm ci`: it says what to do while its files are gone, and goes on when they are back", async () => {
  await using gateway = await start();
  await installation.removePackages();
  await installation.removeBuild();
  for (let times = 0; times < 3; times += 1) {
    await expectReplaced(gateway.url, "/openapi.json");
    await expectReplaced(gateway.url, "/metrics");
  }
  expect(await search(gateway.url)).toMatch(/GATEWAY_REPLACED/);
  const called = JSON.stringify(await execute(gateway.url, "every:echo", { message: "still here" }));
  expect(called).toContain("still here");
  expect(await statusOf()).toContain("start the gateway again");
  expect(gateway.stderr().match(/the REST API cannot be loaded/g)).toHaveLength(1);
  await installation.addBuild();
  await installation.addPackages();
  await expectAllThere(gateway.url);
});

test("a build that is only half there spoils nothing for later", async () => {
  await using gateway = await start();
  await installation.removePackages();
  await installation.removeBuild();
  await installation.addHalfBuild();
  const chunks = await readdir(join(installation.folder, "dist/cli"));
  const lexical = chunks.filter((name) => name.startsWith("lexical-"));
  expect(lexical).not.toEqual([]);
  for (const name of lexical) await rm(join(installation.folder, "dist/cli", name));
  expect(await search(gateway.url)).toMatch(/GATEWAY_REPLACED/);
  expect(gateway.stderr()).toContain("the search engine cannot be loaded from them (no complete build is there)");
  await installation.addPackages();
  await installation.addBuild();
  await expectAllThere(gateway.url);
});

test("a remote server that comes while files are gone is connected to when they are back", async () => {
  const instances = { probeIntervalMs: 1_000, idleCheckMs: 200 };
  await using remote = await startBadHttp();
  await using gateway = await start({ instances });
  await installation.removeBuild();
  await writeFile(
    gateway.configFile,
    JSON.stringify({
      mcpServers: { remote: { url: remote.url } },
      toolyard: { instances },
    }),
  );
  await until(() => /"server":"remote".*files were replaced|remote.*files were replaced/.test(gateway.stderr()));
  await installation.addBuild();
  await until(async () => /remote +online/.test(await statusOf()));
});

test("a build of other sources is never mixed with the one that runs", { timeout: 600_000 }, async () => {
  await using gateway = await start({ search: { engine: "fuse" } });
  await search(gateway.url, "echo");
  await installation.removeBuild();
  await installation.addOtherBuild(join(directory, "workshop"));
  await expectReplaced(gateway.url, "/openapi.json");
  expect(await search(gateway.url, "echo")).toMatch(/GATEWAY_REPLACED/);
  await installation.removeBuild();
  await installation.addBuild();
  await until(async () => (await get(`${gateway.url}/openapi.json`)).status === 200);
  expect(await search(gateway.url, "echo")).toContain("every:echo");
});
