import { mkdir, mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServerFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { get, post, untilOnline } from "../harness/rest.ts";
import { execute, modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { connectClient } from "./clients.ts";

let directory: string;
let many: ManyServers;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-told-"));
  many = await startManyServers([
    { key: "tracker", tools: [{ name: "create_issue" }, { name: "list_issues" }, { name: "merge_branch" }] },
    { key: "chat", tools: [{ name: "post_message" }, { name: "list_channels" }], instructions: "Talk. To people." },
  ]);
});
afterAll(async () => {
  await many[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

type Texts = readonly [instructions: string, find: string];

const descriptionOf = (answer: Awaited<ReturnType<typeof rpc>>): string =>
  answer.json.result.tools[0].description as string;

/** A session, and what it was told when it began. Its list is asked for again with `list`. */
async function begin(url: string): Promise<{ readonly told: Texts; readonly list: () => Promise<string> }> {
  const started = await rpc(`${url}/mcp`, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "somebody", version: "1" },
  });
  const headers = { "mcp-session-id": started.headers["mcp-session-id"] as string };
  const list = async (): Promise<string> => descriptionOf(await rpc(`${url}/mcp`, "tools/list", {}, headers));
  return { told: [started.json.result.instructions as string, await list()], list };
}

async function modern(url: string): Promise<Texts> {
  const discovered = await modernRpc(`${url}/mcp`, "server/discover");
  return [discovered.json.result.instructions as string, descriptionOf(await modernRpc(`${url}/mcp`, "tools/list"))];
}

/** What clients of either era are told now: the same. */
async function toldBy({ url }: RunningGateway): Promise<Texts> {
  const { told } = await begin(url);
  expect(await modern(url)).toEqual(told);
  return told;
}

const statusOf = async ({ url }: RunningGateway, slug: string): Promise<string> =>
  ((await get(`${url}/api/servers/${slug}`)).json as { status: string }).status;

test("the same over restarts, other orders of the file, and servers that fail, are down or were stopped", async () => {
  const program = join(directory, "files.mjs");
  await writeFile(program, `import ${JSON.stringify(pathToFileURL(badServerFile).href)};\n`);
  const files = { command: process.execPath, args: [program, "--tool-name", "read_folder"] };
  const mcpServers = { ...many.mcpServers, files };
  const own = join(directory, "restarts");
  await mkdir(own);
  let told: Texts;
  {
    await using gateway = await startGateway({ config: { mcpServers }, directory: own });
    await untilOnline(gateway.url);
    told = await toldBy(gateway);
    expect(told[0].split("\n")).toEqual([
      "chat, files, tracker: reached through Toolyard. Find a tool with discover_mcp_tools, call it with execute_mcp_tool.",
      "- chat: channel, message",
      expect.stringMatching(/^- files: .*\bfolder\b/),
      "- tracker: branch, issue, merge",
    ]);
    expect(told[1]).toMatch(/^Find tools of chat, files, tracker\. .* About: .*\bissue\b/);
  }
  {
    const reversed = Object.fromEntries(Object.entries(mcpServers).toReversed());
    await using gateway = await startGateway({ config: { mcpServers: reversed }, directory: own });
    expect(await toldBy(gateway)).toEqual(told);
    await untilOnline(gateway.url);
    expect(await toldBy(gateway)).toEqual(told);
  }
  await unlink(program);
  many.setStatus("chat", 503);
  try {
    await using gateway = await startGateway({ config: { mcpServers }, directory: own });
    expect(await toldBy(gateway)).toEqual(told);
    await Promise.all(["files:read_folder", "chat:post_message"].map(async (path) => await execute(gateway.url, path)));
    for (const slug of ["files", "chat"]) await until(async () => (await statusOf(gateway, slug)) !== "online");
    expect(await toldBy(gateway)).toEqual(told);
    expect((await post(`${gateway.url}/api/instances/tracker/stop`, {})).status).toBe(200);
    expect(await toldBy(gateway)).toEqual(told);
  } finally {
    many.setStatus("chat", undefined);
  }
  {
    const off = { ...mcpServers, files: { ...files, disabled: true } };
    await using gateway = await startGateway({ config: { mcpServers: off }, directory: own });
    expect((await toldBy(gateway)).join("\n")).not.toContain("files");
  }
});

test("a session that began before a server was ever seen keeps its words; the next one hears more", async () => {
  let show = (): void => undefined;
  many.holdLists(new Promise<void>((resolve) => (show = resolve)));
  await using gateway = await startGateway({ config: { mcpServers: many.mcpServers } });
  const first = await begin(gateway.url);
  expect(first.told[0]).toMatch(/^chat, tracker: reached through Toolyard\. [^\n]*$/);
  show();
  await until(async () => (await begin(gateway.url)).told[0].includes("- tracker: branch, issue, merge"));
  expect(await first.list()).toBe(first.told[1]);
  expect((await modern(gateway.url))[0]).toContain("- tracker: branch, issue, merge");
});

test("a session outlives servers that come and go, and is not told to list again", async () => {
  const { tracker, chat } = many.mcpServers;
  await using gateway = await startGateway({ config: { mcpServers: { tracker } } });
  await untilOnline(gateway.url);
  const session = await begin(gateway.url);
  const other = await begin(gateway.url);
  await using legacy = await connectClient(`${gateway.url}/mcp`, "legacy");
  const changes: unknown[] = [];
  legacy.client.setNotificationHandler("notifications/tools/list_changed", (change) => void changes.push(change));
  await writeFile(gateway.configFile, JSON.stringify({ mcpServers: { chat } }));
  await until(async () => (await begin(gateway.url)).told[0].startsWith("chat: "));
  await until(async () => (await modern(gateway.url))[1].startsWith("Find tools of chat. "));
  expect(await session.list()).toBe(session.told[1]);
  expect(await other.list()).toBe(session.told[1]);
  await legacy.client.ping();
  expect(changes).toEqual([]);
});
