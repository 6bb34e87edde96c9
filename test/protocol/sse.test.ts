import { createMCPClient as createAiSdkClient } from "@ai-sdk/mcp";
import { Client as ModernClient, SSEClientTransport as ModernSse } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
  type Progress,
} from "@modelcontextprotocol/sdk/types.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";
import { execute, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";
import { openSse } from "./sse-client.ts";
import { readRecord } from "./servers.ts";

let four: FourServers;
let gateway: RunningGateway;

beforeAll(async () => {
  four = await startFourServers("--resources", "--prompts");
  ({ gateway } = four);
});
afterAll(async () => await four[Symbol.asyncDispose]());

const fourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
const execution = (path: string, args: object = {}): { name: string; arguments: Record<string, unknown> } => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: path, arguments: args },
});

/** The SDK v1 client over SSE, which answers everything that it may be asked. */
async function connect(
  path = "/sse",
  headers: Record<string, string> = {},
  url = gateway.url,
): Promise<{ client: Client; transport: SSEClientTransport }> {
  const client = new Client(
    { name: "v1-sse", version: "1" },
    { capabilities: { elicitation: {}, sampling: {}, roots: { listChanged: true } } },
  );
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "Ada" } }));
  client.setRequestHandler(CreateMessageRequestSchema, async () => ({
    role: "assistant",
    content: { type: "text", text: "Paris" },
    model: "a-model",
  }));
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
  const transport = new SSEClientTransport(new URL(path, url), { requestInit: { headers } });
  await client.connect(transport as never);
  return { client, transport };
}

test("a server that is this client's alone is told of its roots", async () => {
  const own = { ...badServer("--era", "legacy"), scope: "client" };
  await using another = await startGateway({ config: { mcpServers: { own } } });
  await until(async () => (await rpc(`${another.url}/mcp/flat`, "tools/list")).text.includes("own-roots"));
  const { client } = await connect("/sse", {}, another.url);
  expect(JSON.stringify((await client.callTool(execution("own:roots"))).content)).toContain("file:///work");
  await client.close();
});

describe.each(fourServers)("the SDK v1 client over HTTP+SSE in front of %s", (server) => {
  test("lists, discovers, calls, reads and gets prompts", async () => {
    const { client } = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(fourTools);
    const found = await client.callTool({ name: "discover_mcp_tools", arguments: { query: "canary", server } });
    expect(JSON.stringify(found.content)).toContain(`${server}:canary`);
    const called = await client.callTool(execution(`${server}:echo`, { text: "añ→😀\n" }));
    expect(called.structuredContent).toEqual({ text: "añ→😀\n" });
    const uri = `toolyard://${server}/${encodeURIComponent("bad://text")}`;
    expect((await client.readResource({ uri })).contents[0]?.uri).toBe(uri);
    const prompt = await client.getPrompt({ name: `${server}-greet`, arguments: { name: "Eve" } });
    expect(prompt.messages[0]?.content).toMatchObject({ text: "Hello, Eve" });
    await client.close();
  });

  test("hears progress and logs, and is asked for everything that it declared", async () => {
    const { client } = await connect();
    const progress: Progress[] = [];
    const enough = new AbortController();
    // One that ends would not do: the SDK forgets who listens when the answer comes in one piece with the last
    // progress.
    const working = client.callTool(execution(`${server}:progress-for-ever`), undefined, {
      onprogress: (one) => progress.push(one),
      signal: enough.signal,
    });
    await until(() => progress.length > 1);
    enough.abort();
    await expect(working).rejects.toThrow();
    expect(progress[1]?.progress).toBeGreaterThan(progress[0]?.progress ?? 0);
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
    await client.setLoggingLevel("info");
    await client.callTool(execution(`${server}:log`, { text: "heard" }));
    expect(JSON.stringify(logged)).toContain("heard");
    for (const [tool, answer] of [
      ["elicit", "Ada"],
      ["sample", "Paris"],
    ] as const)
      expect(JSON.stringify((await client.callTool(execution(`${server}:${tool}`))).content), tool).toContain(answer);
    await client.close();
  });

  test("progress comes before its answer, in order, under the client's own token", async () => {
    const raw = await openSse(`${gateway.url}/sse`);
    await raw.initialize();
    await raw.call("it", "tools/call", {
      ...execution(`${server}:progress`, { steps: 3 }),
      _meta: { progressToken: "mine" },
    });
    const told = raw.messages.filter(({ id }) => id !== "init");
    expect(told.map(({ params, id }) => params?.progress ?? id)).toEqual([1, 2, 3, "it"]);
    expect(told.slice(0, 3).every(({ params }) => params.progressToken === "mine")).toBe(true);
    raw.close();
  });

  test("cancels a call with a notification, and with its event stream all of them", async () => {
    const arrived = async (mark: string): Promise<number> =>
      (
        await until(() =>
          readRecord(four.fileOf(server)).find(({ message }) => message?.params?.arguments?.mark === mark),
        )
      ).message.id;
    const isCancelled = (id: number): boolean =>
      readRecord(four.fileOf(server)).some(
        ({ message, event, id: given }) =>
          (message?.method === "notifications/cancelled" && message.params.requestId === id) ||
          (server === "modern-http" && event === "given up" && given === id),
      );
    const { client } = await connect();
    const enough = new AbortController();
    const marks = [`sse-a-${server}`, `sse-b-${server}`];
    const calls = marks.map((mark, at) =>
      client
        .callTool(execution(`${server}:hang`, { mark }), undefined, at === 0 ? { signal: enough.signal } : {})
        .catch(() => "rejected"),
    );
    const [one, other] = [await arrived(marks[0] as string), await arrived(marks[1] as string)];
    enough.abort();
    await until(() => isCancelled(one));
    expect(isCancelled(other)).toBe(false);
    await client.close();
    await until(() => isCancelled(other));
    expect(await Promise.all(calls)).toEqual(["rejected", "rejected"]);
  });

  test("is told when a list changed and when a resource did", async () => {
    const { client } = await connect(`/sse/server/${server}`);
    let [changes, updates] = [0, 0];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void (updates += 1));
    await client.subscribeResource({ uri: "bad://text" });
    await execute(gateway.url, `${server}:rename`, { to: `sse-${server}` });
    await until(() => changes > 0);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(`sse-${server}`);
    await execute(gateway.url, `${server}:resource-updated`, { uri: "bad://text" });
    await until(() => updates > 0);
    await client.close();
  });
});

test("the AI SDK's client, which has a transport of its own, lists and calls", async () => {
  const client = await createAiSdkClient({ transport: { type: "sse", url: `${gateway.url}/sse` } });
  const tools = await client.tools();
  expect(Object.keys(tools)).toEqual(fourTools);
  const callTool = tools["execute_mcp_tool"]?.execute;
  const result = await callTool?.(execution("legacy-stdio:echo", { a: 1 }).arguments, {
    toolCallId: "1",
    messages: [],
  });
  expect(result).toMatchObject({ structuredContent: { a: 1 } });
  await client.close();
});

describe("paths", () => {
  test.each(["", "/meta", "/flat", "/namespaces", "/server/legacy-stdio"])(
    "/sse%s shows what /mcp%s shows, and announces a URL of its own",
    async (shown) => {
      const { client } = await connect(`/sse${shown}`);
      const twin = (await rpc(`${gateway.url}/mcp${shown}`, "tools/list")).json.result.tools as { name: string }[];
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(twin.map(({ name }) => name));
      await client.close();
      const raw = await openSse(`${gateway.url}/sse${shown}`);
      expect(raw.announced).toMatch(new RegExp(`^/sse${shown}/messages\\?sessionId=[0-9a-f-]{36}$`));
      expect(raw.headers["content-type"]).toBe("text/event-stream");
      raw.close();
    },
  );

  test("/i/{instance}/sse wants the token of its instance, on both ways", async () => {
    const { token } = (await post(`${gateway.url}/api/instances/legacy-stdio/token`)).json;
    const path = "/i/legacy-stdio/sse";
    await expect(connect(path)).rejects.toThrow(/401/);
    const headers = { authorization: `Bearer ${token}` };
    const { client } = await connect(path, headers);
    expect((await client.callTool({ name: "echo", arguments: { a: 1 } })).structuredContent).toEqual({ a: 1 });
    await client.close();
    const raw = await openSse(gateway.url + path, headers);
    expect(raw.announced).not.toContain(token);
    expect((await raw.post({ id: 1, method: "ping" }, { authorization: "Bearer no" })).status).toBe(401);
    expect((await raw.post({ id: 1, method: "ping" })).status).toBe(202);
    raw.close();
  });

  test("a token that may stand in the URL stands in the announced one, too", async () => {
    await using open = await startGateway({
      config: { mcpServers: { bad: badServer() }, toolyard: { auth: { allowTokenInUrl: true } } },
    });
    await until(async () => (await execute(open.url, "bad:canary")).isError === undefined);
    const { token } = (await post(`${open.url}/api/instances/bad/token`)).json;
    const client = new Client({ name: "url", version: "1" });
    await client.connect(new SSEClientTransport(new URL(`${open.url}/i/bad/sse?token=${token}`)) as never);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("canary");
    await client.close();
  });

  test.each(["/sse/nothing", "/sse/nothing/messages", "/sse/messages/messages", "/i/legacy-stdio/sse/flat", "/ssex"])(
    "%s is not there",
    async (path) => {
      expect((await send(gateway.url + path, { method: "GET" })).status).toBe(404);
    },
  );
});

describe("falling back", () => {
  test("a client that posts to the stream's URL first is told 405, and gets on with GET", async () => {
    const url = new URL(`${gateway.url}/sse`);
    const client = new Client({ name: "both", version: "1" });
    await expect(client.connect(new StreamableHTTPClientTransport(url) as never)).rejects.toThrow();
    const posted = await send(url.href, { headers: { "content-type": "application/json" }, body: "{}" });
    expect([posted.status, posted.headers.allow]).toEqual([405, "GET"]);
    expect(posted.json.error.data.code).toBe("HTTP_METHOD_UNSUPPORTED");
    const old = new Client({ name: "both", version: "1" });
    await old.connect(new SSEClientTransport(url) as never);
    expect((await old.listTools()).tools).toHaveLength(4);
    await old.close();
  });

  test("the SDK v2 client, which looks for the modern era first, finds the old one", async () => {
    const client = new ModernClient({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } } as never);
    await client.connect(new ModernSse(new URL(`${gateway.url}/sse`)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(fourTools);
    await client.close();
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("revision %s is negotiated", async (revision) => {
    const raw = await openSse(`${gateway.url}/sse`);
    await raw.initialize({}, revision);
    const again = await raw.post({ id: 2, method: "initialize", params: { protocolVersion: revision } });
    expect([again.status, again.json.error.data.code]).toEqual([400, "REQUEST_INVALID"]);
    const batch = await raw.post(
      '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]',
    );
    if (revision === "2025-03-26") {
      expect(batch.status).toBe(202);
      const answers = await raw.next((message) => Array.isArray(message));
      expect(answers.map(({ id, result }: { id: string; result: unknown }) => [id, result])).toEqual([
        ["a", {}],
        ["b", {}],
      ]);
    } else expect(batch.status).toBe(400);
    raw.close();
  });
});

test("a gateway that was restarted is noticed by the closed stream; the SDK's client reconnects and goes on", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-sse-"));
  const config = { mcpServers: { bad: badServer() } };
  const errors: Error[] = [];
  const client = new Client({ name: "stays", version: "1" });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this
  client.onerror = (error) => errors.push(error);
  try {
    await using first = await startGateway({ config, directory });
    await client.connect(new SSEClientTransport(new URL(`${first.url}/sse`)) as never);
    expect((await client.listTools()).tools).toHaveLength(4);
    await first.stop();
    await until(() => errors.length > 0);
    await using second = await startGateway({ config, directory, args: ["--port", new URL(first.url).port] });
    expect(second.url).toBe(first.url);
    const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
    expect(await until(async () => await names().catch(() => undefined))).toEqual(fourTools);
  } finally {
    await client.close();
    await rm(directory, { recursive: true, force: true });
  }
});
