import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { connectClient } from "./clients.ts";
import { startHttpServer, type HttpServer } from "./servers.ts";
import { modernStream, openSession, openStream } from "./stream.ts";

const referenceFile = fileURLToPath(new URL("../servers/reference-server.mjs", import.meta.url));
const requestInfo = { "content-type": "application/json", accept: "application/json, text/event-stream" };
let reference: HttpServer;
let gateway: RunningGateway;

beforeAll(async () => {
  reference = await startHttpServer(referenceFile);
  gateway = await startGateway({
    config: { mcpServers: { reference: { type: "http", url: reference.url } }, toolyard: { transparent: "reference" } },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await reference[Symbol.asyncDispose]();
});

const url = (path = "/mcp"): string => `${gateway.url}${path}`;

test("a transparent endpoint waits for a server never seen before, and declares what it declares", async () => {
  const initialized = await openStream(url(), {
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    },
  });
  const { result } = await initialized.next(({ id }) => id === 1);
  expect(result).toMatchObject({
    protocolVersion: "2025-06-18",
    capabilities: { logging: {}, completions: {}, resources: { subscribe: true } },
  });
  expect((await rpc(url(), "tools/list")).json.result.tools.length).toBeGreaterThan(20);
});

describe("a server of both eras", () => {
  test("MUST: is reached in its client's own era: it pushes in the one and returns input_required in the other [basic/versioning]", async () => {
    await using legacy = await connectClient(url(), "legacy");
    const pushed = await legacy.client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } });
    expect(JSON.stringify(pushed.content)).toContain("action=accept");
    expect(legacy.asked[0]?.params["message"]).toBe("Who?");
    await using modern = await connectClient(url(), "modern");
    const failed = await modern.client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } });
    expect(JSON.stringify(failed.content)).toContain("Elicitation failed");
    const returned = await modern.client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
    expect(JSON.stringify(returned.content)).toContain("Hello, Ada");
  });
});

describe("results", () => {
  test("MUST: every modern result says its type, repeats the id, and carries our serverInfo [basic/index]", async () => {
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ["server/discover", {}],
      ["tools/list", {}],
      ["tools/call", { name: "test_simple_text" }],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri: "test://static-text" }],
      ["prompts/list", {}],
      ["prompts/get", { name: "test_simple_prompt" }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: "test_prompt_with_arguments" }, argument: { name: "arg1", value: "p" } },
      ],
    ];
    for (const path of ["/mcp", "/mcp/flat", "/mcp/meta"])
      for (const [method, params] of asked) {
        const named = path === "/mcp" ? params : flatNames(params);
        const answer = await modernRpc(url(path), method, named);
        expect(answer.json.result, `${path} ${method} ${answer.text}`).toMatchObject({
          resultType: "complete",
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "toolyard" } },
        });
        expect(answer.json).toHaveProperty("id");
      }
  });

  test("MUST: lists, reads and discovery carry ttlMs and cacheScope [server/utilities/caching]", async () => {
    for (const path of ["/mcp", "/mcp/flat", "/mcp/meta"])
      for (const method of [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "server/discover",
      ]) {
        const { result } = (await modernRpc(url(path), method)).json;
        expect(result.ttlMs, `${path} ${method}`).toBeGreaterThanOrEqual(0);
        expect(["public", "private"]).toContain(result.cacheScope);
      }
    const read = (await modernRpc(url(), "resources/read", { uri: "test://static-text" })).json.result;
    expect(read).toMatchObject({ ttlMs: expect.any(Number), cacheScope: expect.any(String) });
  });

  test("MUST: a resource that is not there is -32602 in 2026-07-28 and -32002 before; never an empty list [server/resources]", async () => {
    for (const [path, uri] of [
      ["/mcp", "test://nothing"],
      ["/mcp/flat", "toolyard://reference/test%3A%2F%2Fnothing"],
      ["/mcp/flat", "toolyard://nobody/x"],
    ] as const) {
      expect((await modernRpc(url(path), "resources/read", { uri })).json.error?.code, `${path} ${uri}`).toBe(-32602);
      expect([-32002, -32602]).toContain((await rpc(url(path), "resources/read", { uri })).json.error?.code);
    }
    expect((await rpc(url("/mcp/flat"), "resources/read", { uri: "toolyard://nobody/x" })).json.error.code).toBe(
      -32002,
    );
  });

  test("SHOULD: lists come in the same order every time, whoever asks [server/tools]", async () => {
    const names = async (): Promise<string> =>
      JSON.stringify((await rpc(url("/mcp/flat"), "tools/list")).json.result.tools);
    const first = await names();
    for (let time = 0; time < 5; time += 1) expect(await names()).toBe(first);
  });
});

/** The names that the flat and the four-tool exposure give to the reference server's things. */
function flatNames(params: Record<string, unknown>): Record<string, unknown> {
  const { name, uri, ref } = params;
  return {
    ...params,
    ...(typeof name === "string" ? { name: `reference-${name}` } : {}),
    ...(typeof uri === "string" ? { uri: `toolyard://reference/${encodeURIComponent(uri)}` } : {}),
    ...(ref === undefined ? {} : { ref: { type: "ref/prompt", name: "reference-test_prompt_with_arguments" } }),
  };
}

describe("Streamable HTTP, 2026-07-28", () => {
  test("MUST: a notification is accepted with 202, a response is refused: clients send none [streamable-http]", async () => {
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const headers = { ...requestInfo, "mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/x" };
    const notification = await send(url(), {
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { _meta } }),
    });
    expect(notification.status).toBe(202);
    const response = await send(url(), { headers, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }) });
    expect(response.status).toBe(400);
  });

  test("MUST: an unknown method is 404 with -32601, a legacy one too [streamable-http]", async () => {
    for (const path of ["/mcp/meta", "/mcp/flat"])
      for (const method of ["nothing/such", "ping", "logging/setLevel", "resources/subscribe"])
        expect(await modernRpc(url(path), method), method).toMatchObject({
          status: 404,
          json: { error: { code: -32601 } },
        });
  });

  test("SHOULD: a stream asks proxies not to buffer it, and ends with its answer [streamable-http]", async () => {
    const _meta = { progressToken: 1 };
    const stream = await modernStream(url(), 1, "tools/call", { name: "test_tool_with_progress", _meta });
    await stream.next(({ id }) => id === 1);
    expect(stream.headers["x-accel-buffering"]).toBe("no");
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    await until(() => stream.ended);
    expect(stream.messages.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("MUST: what a client puts first in Accept it gets [streamable-http]", async () => {
    const tried = [
      ["application/json, text/event-stream", "application/json"],
      ["text/event-stream, application/json", "text/event-stream"],
      ["text/event-stream", "text/event-stream"],
      ["*/*", "application/json"],
    ] as const;
    for (const [accept, type] of tried) {
      const answer = await send(url(), {
        headers: { "content-type": "application/json", accept },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      });
      expect(answer.headers["content-type"], accept).toBe(type);
    }
  });
});

describe("Streamable HTTP, before 2026", () => {
  test("MAY: a stream that its server breaks off is broken off here too; the rest is there for who comes back [2025-11-25 basic/transports]", async () => {
    const session = await openSession(url());
    const stream = await session.call("r", "tools/call", { name: "test_reconnection", arguments: {} });
    await until(() => stream.ended);
    expect(stream.messages).toEqual([]);
    const last = stream.events.at(-1)?.id;
    expect(last).toBeDefined();
    const rest = await session.listen(last);
    expect(await rest.next(({ id }) => id === "r")).toMatchObject({
      result: { content: [{ text: "The client came back" }] },
    });
    await session.end();
  });

  test("SHOULD: where a server has its client wait, ours is let go so late that the answer is there when it comes back [2025-11-25 basic/transports]", async () => {
    await using slow = await startHttpServer(referenceFile, "--retry-ms", "2500");
    await using other = await startGateway({
      config: { mcpServers: { slow: { type: "http", url: slow.url } }, toolyard: { transparent: "slow" } },
    });
    const session = await openSession(`${other.url}/mcp`);
    const stream = await session.call("r", "tools/call", { name: "test_reconnection", arguments: {} });
    // The first event comes at once: whoever loses the stream on the way can come back from it.
    const first = await until(() => stream.events[0]?.id);
    await until(() => stream.ended);
    expect(stream.messages).toEqual([]);
    const rest = await session.listen(first);
    expect(await rest.next(({ id }) => id === "r")).toMatchObject({
      result: { content: [{ text: "The client came back" }] },
    });
    await session.end();
  });

  test("MUST: revisions of before have no events without data, and get their answer on the one stream [2025-06-18 basic/transports]", async () => {
    const session = await openSession(url(), { revision: "2025-06-18" });
    const stream = await session.call("r", "tools/call", { name: "test_reconnection", arguments: {} });
    expect(await stream.next(({ id }) => id === "r")).toMatchObject({
      result: { content: [{ text: "The client came back" }] },
    });
    await session.end();
  });

  test("MUST: an ended or unknown session is 404, a GET without one 405 [2025-11-25 basic/transports]", async () => {
    const session = await openSession(url());
    await session.end();
    expect((await session.call(1, "ping")).status).toBe(404);
    expect((await send(url(), { method: "GET", headers: { accept: "text/event-stream" } })).status).toBe(405);
  });
});

test("SHOULD: what other machines could reach is not served without authentication [streamable-http]", async () => {
  const config = join(gateway.directory, "open.json");
  await writeFile(config, JSON.stringify({ mcpServers: {} }));
  const data = join(gateway.directory, "open-data");
  const open = await runCommand(["serve", "--host", "0.0.0.0", "--port", "0", "--config", config, "--data-dir", data]);
  expect(open.code).not.toBe(0);
  expect(open.stderr).toContain("toolyard token new");
});
