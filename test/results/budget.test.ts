import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/catalog/exposure/text/token-estimate.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { connectClient, type AnsweringClient } from "../protocol/clients.ts";

const filesystem = join(
  dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json")),
  "dist/index.js",
);
const line = (n: number): string => `${n} 2026-11-22T09:00:00Z INFO request ${n * 7} took ${n % 300} ms — “done”`;
const log = Array.from({ length: 9_000 }, (_, n) => line(n)).join("\n");
const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, title: `Issue number ${id}`, labels: ["bug"] }));

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

let folder: string;
let gateway: RunningGateway;
let client: AnsweringClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-budget-"));
  await writeFile(join(folder, "app.log"), log);
  gateway = await startGateway({
    config: {
      mcpServers: {
        fs: { command: process.execPath, args: [filesystem, folder] },
        whole: { command: process.execPath, args: [filesystem, folder], maxResultTokens: 0 },
        worker: badServer("--resources"),
      },
    },
  });
  await untilOnline(gateway.url);
  client = await connectClient(`${gateway.url}/mcp`, "legacy");
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Text {
  readonly text: string;
}

/** What a model reads of a call through the four tools. */
async function execute(path: string, args: object, more: object = {}) {
  const result = await client.client.callTool({
    name: "execute_mcp_tool",
    arguments: { tool_path: path, arguments: args },
    ...more,
  });
  return { ...result, texts: (result.content as Text[]).map(({ text }) => text) };
}

async function readResource(uri: string): Promise<string[]> {
  const result = await client.client.callTool({ name: "read_mcp_resource", arguments: { uri } });
  return (result.content as Text[]).map(({ text }) => text);
}

const readLog = async (server = "fs", more: object = {}) =>
  await execute(`${server}:read_text_file`, { path: join(folder, "app.log") }, more);

const cutOf = (result: { _meta?: unknown }) =>
  (result._meta as Record<string, { uri: string; parts: number; tokens: number; shownTokens: number }>)["toolyard/cut"];

describe("a file of 500 KB, read by a real client from a real server", () => {
  test("is cut behind a line, and says how much there is and how to read on", async () => {
    expect(log.length).toBeGreaterThan(500_000);
    const result = await readLog();
    const [note = "", shown = ""] = result.texts;
    expect(log.startsWith(shown)).toBe(true);
    expect(shown.endsWith("\n")).toBe(true);
    expect(estimateTokens(shown + note)).toBeLessThanOrEqual(25_000);
    expect(estimateTokens(shown)).toBeGreaterThan(20_000);
    expect(note).toMatch(
      /^Note from Toolyard: this result was cut\. Below are about 2\d,\d{3} of its \d{3},\d{3} tokens\. Read on/,
    );
    // Its structured content says the same once more, and is not given out beside it.
    expect(result.structuredContent).toBeUndefined();
    expect(result.isError).not.toBe(true);
  });

  test("is read to its end part by part, as each part says", async () => {
    const result = await readLog();
    let whole = result.texts[1] ?? "";
    let next = /toolyard:\/\/result\/\S+\?part=\d+/.exec(result.texts[0] ?? "")?.[0];
    for (let part = 2; next !== undefined; part += 1) {
      const [note = "", text = ""] = await readResource(next);
      expect(note).toContain(`Part ${part} of ${cutOf(result)?.parts}.`);
      whole += text;
      next = /toolyard:\/\/result\/\S+\?part=\d+/.exec(note)?.[0];
    }
    expect(whole === log).toBe(true);
  });

  test("is read by the lines that contain a word", async () => {
    const { uri } = cutOf(await readLog()) ?? { uri: "" };
    const [note, text] = await readResource(`${uri}?match=${encodeURIComponent("REQUEST 6307 ")}`);
    expect(text).toBe(`902: ${line(901)}`);
    expect(note).toBe('1 of 1 lines with "REQUEST 6307 ", with their numbers.\n');
    expect(await readResource(`${uri}?match=nowhere`)).toEqual(['There are no lines with "nowhere".']);
  });

  test("is given natively and over REST as well", async () => {
    const { uri } = cutOf(await readLog()) ?? { uri: "" };
    const native = await client.client.readResource({ uri: `${uri}?part=2` });
    const { json } = await get(`${gateway.url}/api/resources/read?uri=${encodeURIComponent(`${uri}?part=2`)}`);
    expect(json.contents).toEqual(native.contents);
    expect((native.contents[0] as Text).text.length).toBeGreaterThan(10_000);
  });
});

describe("the budget", () => {
  test("is none for a server that says so, for a call that says so, over REST, and where a server is shown as it is", async () => {
    expect((await readLog("whole")).texts[0]).toBe(log);
    expect((await readLog("fs", { _meta: { "toolyard/maxTokens": 0 } })).texts[0]).toBe(log);
    const overRest = await run(gateway.url, "fs:read_text_file", { path: join(folder, "app.log") });
    expect(overRest.json.result.content[0].text).toBe(log);
    await using transparent = await connectClient(`${gateway.url}/mcp/server/fs`, "legacy");
    const result = await transparent.client.callTool({
      name: "read_text_file",
      arguments: { path: join(folder, "app.log") },
    });
    expect((result.content as Text[])[0]?.text).toBe(log);
  });

  test("of a call goes before all others", async () => {
    const { texts } = await readLog("whole", { _meta: { "toolyard/maxTokens": 1_000 } });
    expect(estimateTokens(texts.join(""))).toBeLessThanOrEqual(1_000);
  });

  test("leaves what fits untouched, byte for byte", async () => {
    const { text } = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "worker:numbers", arguments: {} },
    });
    expect(text).toContain("9007199254740993");
    expect(text).not.toContain("toolyard/cut");
  });

  test("keeps a shown schema: fewer elements, valid for the client that checks them", async () => {
    await using flat = await connectClient(`${gateway.url}/mcp/flat`, "legacy");
    await flat.client.listTools();
    const result = await flat.client.callTool({
      name: "fs-read_text_file",
      arguments: { path: join(folder, "app.log") },
    });
    const { content } = result.structuredContent as { content: string };
    expect(content.length).toBeLessThan(log.length / 2);
    expect(log.startsWith(content.slice(0, 10_000))).toBe(true);
  });

  test("says nothing about itself in an answer of discover", async () => {
    const result = await client.client.callTool({ name: "discover_mcp_tools", arguments: { query: "read a file" } });
    expect(JSON.stringify(result)).not.toContain("toolyard://result");
  });

  test("holds for a resource that a model reads with the tool", async () => {
    const { json } = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "read_mcp_resource",
      arguments: { uri: "worker|bad://text" },
      _meta: { "toolyard/maxTokens": 1 },
    });
    expect(json.result.content[0].resource.text).toMatch(/^Note from Toolyard: this result was cut/);
  });
});

describe("the rest of a result", () => {
  test("FAULT 94: of somebody else is unknown, in the same words as one that never was", async () => {
    const people = await startGateway({
      config: {
        mcpServers: { worker: badServer() },
        toolyard: { principals: { anna: { tokenHash: hashOf("anna") }, bert: { tokenHash: hashOf("bert") } } },
      },
    });
    await using _people = people;
    const as = (who: string) => ({ authorization: `Bearer ${who}` });
    const text = JSON.stringify(rows);
    const called = await until(async () => {
      const { json } = await rpc(
        `${people.url}/mcp`,
        "tools/call",
        { name: "execute_mcp_tool", arguments: { tool_path: "worker:text", arguments: { text } } },
        as("anna"),
      );
      return json.result?._meta?.["toolyard/cut"] as { uri: string } | undefined;
    });
    const read = async (who: string, uri: string) =>
      (await rpc(`${people.url}/mcp`, "resources/read", { uri }, as(who))).json;
    expect((await read("anna", called.uri)).result.contents[0].text).toContain("Issue number 0");
    const random = `toolyard://result/${"A".repeat(22)}`;
    const foreign = JSON.stringify((await read("bert", called.uri)).error).replaceAll(called.uri, "URI");
    expect(foreign).toBe(JSON.stringify((await read("bert", random)).error).replaceAll(random, "URI"));
    expect(foreign).toContain("is not kept");
  });

  test("that does not fit into memory is on the disk for as long as the gateway runs, and gone with it", async () => {
    const small = await startGateway({
      config: { mcpServers: { worker: badServer() }, toolyard: { results: { keptMemoryBytes: 0 } } },
    });
    await untilOnline(small.url);
    const { json } = await rpc(`${small.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "worker:text", arguments: { text: log } },
    });
    const files = async (): Promise<string[]> =>
      (await readdir(join(small.directory, "data"), { recursive: true })).filter((name) => /results\/.+/.test(name));
    await until(async () => (await files()).length === 1);
    const { uri } = json.result._meta["toolyard/cut"];
    const { json: read } = await rpc(`${small.url}/mcp`, "resources/read", { uri: `${uri}?part=3` });
    expect(read.result.contents[0].text.length).toBeGreaterThan(10_000);
    expect(await small.stop()).toBe(0);
    expect(await files()).toEqual([]);
    await small[Symbol.asyncDispose]();
  });

  test("that a killed gateway left on the disk, for its owner alone, is gone when the next one has started", async () => {
    const directory = await mkdtemp(join(tmpdir(), "toolyard-left-"));
    const options = {
      directory,
      config: { mcpServers: { worker: badServer() }, toolyard: { results: { keptMemoryBytes: 0 } } },
    };
    const killed = await startGateway(options);
    await untilOnline(killed.url);
    await rpc(`${killed.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "worker:text", arguments: { text: log } },
    });
    const files = async (): Promise<string[]> =>
      (await readdir(join(directory, "data"), { recursive: true })).filter((name) => /results\/.+/.test(name));
    const [file = ""] = await until(async () => {
      const found = await files();
      return found.length === 1 && found;
    });
    expect((await stat(join(directory, "data", file))).mode & 0o777).toBe(0o600);
    await killed.stop("SIGKILL");
    expect(await files()).toHaveLength(1);
    const next = await startGateway(options);
    await until(async () => (await files()).length === 0);
    expect(await next.stop()).toBe(0);
    await rm(directory, { recursive: true, force: true });
  });
});
