// The bad server has to be bad in the way that it says: these tests hold it to that, without a gateway.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";

const badServer = fileURLToPath(new URL("./bad-server.mjs", import.meta.url));
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const cleanups = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function start(...flags) {
  const child = spawn(process.execPath, [badServer, ...flags], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  cleanups.push(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => (await lines.next()).value;
  return {
    exited,
    nextLine,
    sendLine: (line) => child.stdin.write(`${line}\n`),
    async request(method, params) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
      return JSON.parse(await nextLine());
    },
  };
}

async function startHttp(...flags) {
  const [, url] = (await start("--http", ...flags).nextLine()).split("listening on ");
  const post = (message, headers = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  return {
    url,
    post,
    call: (name, args, headers) => post({ method: "tools/call", params: { name, arguments: args } }, headers),
  };
}

async function temporaryFile(name) {
  const directory = await mkdtemp(join(tmpdir(), "bad-server-"));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  return join(directory, name);
}

const modernCall = (name, more = {}) => ({
  method: "tools/call",
  params: { name, arguments: {}, _meta: modernMeta, ...more },
});
const toolNames = (answer) => answer.result.tools.map((tool) => tool?.name);

describe("over stdio", () => {
  test("echo returns the bytes of the arguments", async () => {
    const server = start();
    const args = '{"b":9007199254740993, "a":-0,"huge":1e400,"esc":"\\u0041"}';
    server.sendLine(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`);
    const line = await server.nextLine();
    expect(line).toContain(`"structuredContent":${args}}`);
    expect(JSON.parse(line).result.content[0].text).toBe(args);
  });

  test("a tool without a behaviour of its own answers as canary", async () => {
    const server = start("--server-name", "a-b", "--tool-name", "c\\u0000d");
    expect(toolNames(await server.request("tools/list"))).toEqual(["c\0d"]);
    const answer = await server.request("tools/call", { name: "c\0d" });
    expect(answer.result.structuredContent).toMatchObject({ server: "a-b", tool: "c\0d" });
  });

  test("lists can be malformed, double, hostile, and without an end", async () => {
    const names = toolNames(await start("--malformed", "--duplicate", "--behaviours", "none").request("tools/list"));
    expect(names).toContain(17);
    expect(names.filter((name) => name === "twin")).toHaveLength(2);
    const kinds = ["ref-cycle", "remote-ref", "id-clash", "anyof-20000", "deep-10000", "redos", "unknown-dialect"];
    const bombs = start(...kinds.flatMap((kind) => ["--schema-bomb", kind]));
    expect(toolNames(await bombs.request("tools/list"))).toEqual(kinds.map((kind) => `bomb-${kind}`));
    const endless = start("--endless-pages");
    const page = await endless.request("tools/list", { cursor: "41" });
    expect(page.result).toMatchObject({ tools: [{ name: "page-42" }], nextCursor: "42" });
  });

  test("pages are as long as asked, and an unknown cursor is an error", async () => {
    const server = start("--tools", "5", "--page-size", "2");
    const first = await server.request("tools/list");
    expect(toolNames(first)).toEqual(["tool-1", "tool-2"]);
    const last = await server.request("tools/list", { cursor: "4" });
    expect([toolNames(last), last.result.nextCursor]).toEqual([["tool-5"], undefined]);
    expect((await server.request("tools/list", { cursor: "x" })).error.code).toBe(-32602);
  });

  test("a cancelled call is recorded and not answered", async () => {
    const file = await temporaryFile("record");
    const server = start("--record", file);
    server.sendLine('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}');
    server.sendLine('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}');
    expect((await server.request("ping")).result).toEqual({});
    const events = (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events).toContainEqual(expect.objectContaining({ event: "given up", id: 7 }));
  });

  test("it dies when it was told to, and as it was told to", async () => {
    const server = start("--crash-after", "1");
    expect((await server.exited)[0]).toBe(1);
    const other = start();
    await other.request("ping");
    other.sendLine('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash-self"}}');
    expect((await other.exited)[1]).toBe("SIGKILL");
  });
});

describe("over Streamable HTTP", () => {
  test("an answer is JSON until something has to be said before it", async () => {
    const server = await startHttp();
    const plain = await server.call("canary");
    expect([plain.headers.get("content-type"), plain.status]).toEqual(["application/json", 200]);
    const twice = await server.call("twice");
    expect(twice.headers.get("content-type")).toBe("text/event-stream");
    expect((await twice.text()).match(/"(first|second)"/g)).toEqual(['"first"', '"second"']);
  });

  test("a session that was expired is 404", async () => {
    const server = await startHttp("--session");
    expect((await server.call("canary")).status).toBe(400);
    const hello = await server.post({
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    });
    const session = { "mcp-session-id": hello.headers.get("mcp-session-id") };
    expect((await server.call("expire-session", {}, session)).status).toBe(200);
    expect((await server.call("canary", {}, session)).status).toBe(404);
  });

  test("a question is pushed on the stream of the call and answered by another POST", async () => {
    const server = await startHttp();
    const call = await server.call("elicit");
    const reader = call.body.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    const question = JSON.parse(/data: (.*)/.exec(value)[1]);
    expect(question.method).toBe("elicitation/create");
    const reply = {
      id: question.id,
      method: undefined,
      result: { action: "accept", content: { name: "Ada" } },
    };
    expect((await server.post(reply)).status).toBe(202);
    expect((await reader.read()).value).toContain("Ada");
  });

  test("access can be refused in every way", async () => {
    const guarded = await startHttp("--require-auth", "secret");
    expect((await guarded.call("canary")).status).toBe(401);
    expect((await guarded.call("canary", {}, { authorization: "Bearer secret" })).status).toBe(200);
    const broken = await startHttp("--http-status", "503");
    expect((await broken.call("canary")).status).toBe(503);
  });
});

describe("in the modern era", () => {
  test("it knows server/discover, and no initialize", async () => {
    const server = await startHttp("--era", "modern");
    const discover = await server.post({
      method: "server/discover",
      params: { _meta: modernMeta },
    });
    expect((await discover.json()).result.supportedVersions).toEqual(["2026-07-28"]);
    const initialize = await server.post({
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    });
    expect([initialize.status, (await initialize.json()).error.code]).toEqual([400, -32022]);
  });

  test("a question is a result, and altered state is refused", async () => {
    const server = await startHttp("--era", "both");
    const asked = (await (await server.post(modernCall("elicit"))).json()).result;
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { answer: { method: "elicitation/create" } },
    });
    const inputResponses = { answer: { action: "accept", content: { name: "Ada" } } };
    const { requestState } = asked;
    const answered = await server.post(modernCall("elicit", { inputResponses, requestState }));
    expect((await answered.json()).result.content[0].text).toContain("Ada");
    const altered = await server.post(modernCall("elicit", { inputResponses, requestState: `${requestState}0` }));
    expect((await altered.json()).error.code).toBe(-32602);
  });

  test("a listener hears what it asked for", async () => {
    const server = start("--era", "modern");
    const params = { notifications: { toolsListChanged: true }, _meta: modernMeta };
    expect((await server.request("subscriptions/listen", params)).method).toBe(
      "notifications/subscriptions/acknowledged",
    );
    const announced = await server.request("tools/call", {
      name: "list-changed",
      _meta: modernMeta,
    });
    expect(announced.params._meta).toEqual({ "io.modelcontextprotocol/subscriptionId": 1 });
  });
});

test("legacy SSE is good enough for the SDK's client", async () => {
  const [, url] = (await start("--sse").nextLine()).split("listening on ");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new SSEClientTransport(new URL(url)));
  cleanups.push(() => client.close());
  const { content } = await client.callTool({ name: "canary", arguments: {} });
  expect(content[0].text).toContain('"server":"bad-server"');
});
