// The command lines that people use most, from npm, connected by `toolyard connect` and by nothing else: each lists the
// gateway with its own command, and then finds and calls a tool of a server behind it, for a model that follows a
// script. In the versions of docs/clients.json, so that a new one fails nobody's tests.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clients } from "../../scripts/clients/client-rows.mjs";
import { installVersion, runClient } from "../../scripts/clients/installed-client.mjs";
import { findProblems, observeClient } from "../../scripts/clients/observe-client.mjs";
import { startRecordingProxy } from "../../scripts/clients/recording-proxy.mjs";
import { startScriptedModel } from "../../scripts/clients/scripted-model.mjs";
import { findAndCall, readResource } from "../../scripts/clients/steps.mjs";
import seenClients from "../../docs/clients.json" with { type: "json" };
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

// Each takes seconds, but the first run fetches hundreds of megabytes.
const limitMs = 600_000;
let folder;
let gateway;
let front;
let model;
let truth;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-connected-"));
  gateway = await startGateway({ config: { mcpServers: { bad: badServer("--resources") } } });
  front = await startRecordingProxy(gateway.url);
  model = await startScriptedModel([...findAndCall("canary"), ...readResource("toolyard", "text")]);
  const called = await until(async () => {
    const result = await execute(gateway.url, "bad:canary");
    return result.structuredContent?.instance === undefined ? undefined : result;
  });
  const ask = async (method, params) => (await rpc(`${gateway.url}/mcp`, method, params)).json.result;
  const { resources } = await ask("resources/list", {});
  const { uri } = resources.find(({ name }) => name === "text");
  const { contents } = await ask("resources/read", { uri });
  truth = { toolPath: "bad:canary", executed: called.structuredContent.instance, resource: contents[0].text };
});
afterAll(async () => {
  model.close();
  front.close();
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** How each lists its servers, and what it prints when ours is one of them. */
const lists = [
  { id: "claude-code", command: "claude", args: ["mcp", "list"], says: /toolyard: \S+\/mcp \(HTTP\) - \S+ Connected/ },
  { id: "codex", command: "codex", args: ["mcp", "list", "--json"], says: /"name": "toolyard",\s+"enabled": true/ },
  { id: "gemini", command: "gemini", args: ["mcp", "list"], says: /toolyard: \S+\/mcp \(http\) - Connected/ },
  { id: "opencode", command: "opencode", args: ["mcp", "list"], says: /toolyard \S*connected/ },
];

test.each(lists)(
  "$id, connected by one command, lists the gateway, initializes, and calls a tool through it",
  async ({ id, command, args, says }) => {
    const row = clients.find((one) => one.command === command);
    const { version } = seenClients.find(({ name }) => name === row.name);
    const installed = await installVersion(row, version);
    const home = join(folder, id);
    let env;
    let file;
    // The settings of the model stand in the client's file before: connecting keeps them, or it would not work.
    const connect = async (given) => {
      env = given;
      const options = ["--url", `${front.url}/mcp`, "--config", gateway.configFile, "--yes", "--json"];
      const connected = await runCommand(["connect", id, ...options], env);
      expect(connected.stderr).toBe("");
      const told = JSON.parse(connected.stdout);
      expect(told).toMatchObject({ client: id, way: "url", outcome: "connected", url: `${front.url}/mcp` });
      file = told.file;
    };
    const seen = await observeClient({
      ...{ client: row, command: installed.command, home, front, model, isAllowed: true, connect },
      onOutput: () => undefined,
    });
    // What came back to its model is what the gateway itself answers.
    expect(findProblems(seen, truth)).toEqual([]);
    expect(seen.offered).toContain("discover_mcp_tools");
    expect(front.seen().methods).toContain("tools/list");
    const printed = await runClient(installed.command, { args, env, cwd: home, onOutput: () => undefined });
    // oxlint-disable-next-line no-control-regex -- colours
    expect(printed.replace(/\u001b\[[\d;]*m/g, "")).toMatch(says);
    const text = await readFile(file, "utf8");
    const gone = await runCommand(["disconnect", id, "--config", gateway.configFile, "--yes"], env);
    expect(gone.code).toBe(0);
    expect(await readFile(file, "utf8")).not.toContain(front.url);
    expect(text).toContain(front.url);
  },
  limitMs,
);
