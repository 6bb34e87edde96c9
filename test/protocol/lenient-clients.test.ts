import { fileURLToPath } from "node:url";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";
import { openSse } from "./sse-client.ts";

// What clients send that write "none" as null, "" or [], that come back after a restart, or that spell a name in a
// way of their own: what they mean is clear.

const file = fileURLToPath(new URL("../servers/echo-params-server.mjs", import.meta.url));
const echo = { command: process.execPath, args: [file] };

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({
    config: {
      mcpServers: {
        echo,
        closed: { ...echo, disabledTools: ["Look-Up"] },
        bad: { ...badServer("--era", "legacy"), scope: "client" },
      },
    },
  });
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

/** What reached the server, as it was written. */
function sentOf({ json }: RawAnswer): string {
  return json.result?.content?.[0]?.text ?? json.result?.messages?.[0]?.content.text ?? JSON.stringify(json);
}

const initializeBody = (params: unknown, id = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params });
const usual = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } };
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  return await send(`${gateway.url}${path}`, { headers: { ...json, ...headers }, body });
}

describe("initialize", () => {
  test.each(["11111111-1111-4111-8111-111111111111", "", "__proto__"])(
    "opens a session whatever the lost one was called: %j",
    async (id) => {
      const answer = await post("/mcp", initializeBody(usual), { "mcp-session-id": id });
      expect(answer.status).toBe(200);
      const made = String(answer.headers["mcp-session-id"]);
      expect(made).not.toBe(id);
      const listed = await post("/mcp", '{"jsonrpc":"2.0","id":2,"method":"tools/list"}', { "mcp-session-id": made });
      expect(listed.status).toBe(200);
    },
  );

  test("leaves the session alone that is named, here and at another endpoint", async () => {
    const first = await post("/mcp", initializeBody(usual));
    const id = String(first.headers["mcp-session-id"]);
    for (const path of ["/mcp", "/mcp/flat"]) {
      const again = await post(path, initializeBody(usual), { "mcp-session-id": id });
      expect(again.status).toBe(200);
      expect(again.headers["mcp-session-id"]).not.toBe(id);
    }
    const listed = await post("/mcp", '{"jsonrpc":"2.0","id":2,"method":"tools/list"}', { "mcp-session-id": id });
    expect(listed.status).toBe(200);
  });

  test("over HTTP+SSE takes no notice of such an id", async () => {
    const sse = await openSse(`${gateway.url}/sse`);
    const accepted = await sse.post(initializeBody(usual), { "mcp-session-id": "lost" });
    expect(accepted.status).toBe(202);
    expect((await sse.next((message) => message.id === 1)).result.serverInfo.name).toBe("toolyard");
    sse.close();
  });

  test.each([
    [null],
    [[]],
    [{}],
    [{ ...usual, protocolVersion: null, capabilities: null, clientInfo: null, _meta: null }],
    [{ ...usual, protocolVersion: "1999-01-01", clientInfo: { name: "c" } }],
    [{ ...usual, capabilities: { roots: null, sampling: null, elicitation: null }, clientInfo: { name: null } }],
  ])("answers %j", async (params) => {
    const { json: body } = await post("/mcp", initializeBody(params));
    expect(body.result.protocolVersion).toMatch(/^2025-/);
  });

  const staleFetch: typeof fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    if (!headers.has("mcp-session-id")) headers.set("mcp-session-id", "lost");
    return await fetch(url, { ...init, headers });
  };

  test("the official clients come back with the id of a lost session", async () => {
    const url = new URL(`${gateway.url}/mcp/flat`);
    const legacy = new LegacyClient({ name: "test", version: "1" });
    await legacy.connect(new LegacyHttp(url, { fetch: staleFetch }) as never);
    expect((await legacy.listTools()).tools.map(({ name }) => name)).toContain("echo-echo");
    await legacy.close();
    const newer = new ModernClient({ name: "test", version: "1" });
    await newer.connect(new ModernHttp(url, { fetch: staleFetch }));
    expect((await newer.listTools()).tools.map(({ name }) => name)).toContain("echo-echo");
    await newer.close();
  });
});

describe("no arguments", () => {
  const nothing = '"params":{"name":"echo"}';

  describe.each([
    ["/mcp", "echo:echo"],
    ["/mcp/flat", "echo-echo"],
    ["/mcp/namespaces", "echo__echo"],
    ["/mcp/server/echo", "echo"],
  ])("at %s", (path, name) => {
    test.each([{}, { arguments: null }, { arguments: [] }, { arguments: null, _meta: null, task: null }])(
      "%j of tools/call",
      async (given) => {
        for (const ask of [rpc, modernRpc])
          expect(`"params":${sentOf(await ask(`${gateway.url}${path}`, "tools/call", { name, ...given }))}`).toBe(
            nothing,
          );
      },
    );

    test.each([{}, { arguments: null }, { arguments: [] }])("%j of prompts/get", async (given) => {
      const prompt = path === "/mcp/server/echo" ? "greet" : "echo-greet";
      const answer = await rpc(`${gateway.url}${path}`, "prompts/get", { name: prompt, ...given });
      expect(sentOf(answer)).toBe('{"name":"greet"}');
    });
  });

  test.each([undefined, null, "", " ", [], "[]", "null"])("%j in execute_mcp_tool", async (given) => {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "echo:echo", arguments: given },
    });
    expect(`"params":${sentOf(answer)}`).toBe(nothing);
  });

  test.each(["7", '"x"', "[1]", "true", '"7"'])("%s in execute_mcp_tool is still refused", async (given) => {
    const params = `{"name":"execute_mcp_tool","arguments":{"tool_path":"echo:echo","arguments":${given}}}`;
    expect(sentOf(await rpc(`${gateway.url}/mcp`, "tools/call", params))).toContain("ARGUMENTS_INVALID");
  });

  test.each(["", "null", "[]", " [ ] "])("%j over REST", async (body) => {
    const answer = await send(`${gateway.url}/execute/echo:echo`, {
      headers: { "content-type": json["content-type"] },
      body,
    });
    expect(answer.json.result.content[0].text).toBe('{"name":"echo"}');
  });

  test("a meta tool takes null for none", async () => {
    const listed = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "list_mcp_resources", arguments: null });
    expect(listed.json.result.isError).toBeUndefined();
  });
});

describe("what is null, or an empty list, is not there", () => {
  test.each(["null", "[]"])("params %s of requests and notifications", async (params) => {
    expect((await rpc(`${gateway.url}/mcp`, "tools/list", params)).json.result.tools).toHaveLength(4);
    const told = await post("/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized","params":${params}}`);
    expect(told.status).toBe(202);
  });

  test("the id of a notification", async () => {
    const told = await post("/mcp", '{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}');
    expect(told.status).toBe(202);
  });

  test.each(["tools/list", "resources/list", "resources/templates/list", "prompts/list"])(
    'the cursor of %s, where "" is the start too',
    async (method) => {
      for (const ask of [rpc, modernRpc]) {
        const [plain, ...others] = await Promise.all(
          [{}, { cursor: "" }, { cursor: null }].map(
            async (params) => await ask(`${gateway.url}/mcp/flat`, method, params),
          ),
        );
        for (const other of others) expect(other.json.result).toEqual(plain?.json.result);
        expect(plain?.json.result).toBeDefined();
      }
    },
  );

  test("the context of a completion", async () => {
    const params = { ref: { type: "ref/prompt", name: "echo-greet" }, argument: { name: "who", value: "" } };
    const answer = await rpc(`${gateway.url}/mcp`, "completion/complete", { ...params, context: null });
    expect(answer.json.result.completion.values[0]).not.toContain("context");
  });

  describe("in what a client declares and answers", () => {
    /** What the tool says of the answer to its question, which is `answer`. */
    async function asked(tool: string, capabilities: object, answer: object): Promise<string> {
      const sse = await openSse(`${gateway.url}/sse/flat`);
      await sse.initialize(capabilities);
      await sse.post({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: `bad-${tool}`, arguments: null } });
      const said = await sse.next(({ id, method }) => id === 7 || (method !== undefined && id !== undefined));
      if (said.id !== 7) await sse.post({ jsonrpc: "2.0", id: said.id, ...answer });
      const result = await sse.next(({ id }) => id === 7);
      sse.close();
      return JSON.stringify(result);
    }

    const declined = { error: null, result: { action: "decline", content: null, _meta: null } };

    test("a mode that is null is none, and an answer's members pass as they are", async () => {
      expect(await asked("elicit", { elicitation: { form: null, url: null } }, declined)).toContain("decline");
      expect(await asked("elicit", { elicitation: { form: {} }, roots: null }, declined)).toContain("decline");
    });

    test("a capability that is null is not declared", async () => {
      expect(await asked("elicit", { elicitation: null }, declined)).not.toContain("decline");
    });

    test("a root without a name, and a sampled message", async () => {
      const roots = { result: { roots: [{ uri: "file:///work", name: null }], nextCursor: null } };
      expect(await asked("roots", { roots: {} }, roots)).toContain("file:///work");
      const sampled = { role: "assistant", content: { type: "text", text: "Paris" }, model: "m", stopReason: null };
      expect(await asked("sample", { sampling: { tools: null } }, { result: sampled })).toContain("Paris");
    });
  });

  test("the members of _meta", async () => {
    const meta = { "io.modelcontextprotocol/logLevel": null, progressToken: null };
    const answer = await modernRpc(`${gateway.url}/mcp/flat`, "tools/call", {
      name: "echo-echo",
      inputResponses: null,
      requestState: null,
      _meta: meta,
    });
    expect(sentOf(answer)).not.toContain("inputResponses");
    expect(answer.json.result.content).toBeDefined();
  });
});

describe("a path that is spelled in another way", () => {
  const call = async (tool_path: string): Promise<RawAnswer> =>
    await rpc(`${gateway.url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path } });

  test.each(["echo/Look-Up", "echo:look-up", "ECHO/LOOK-UP", " echo:Look-Up "])(
    "%j means echo:Look-Up",
    async (name) => {
      expect(sentOf(await call(name))).toBe('{"name":"Look-Up"}');
    },
  );

  test("in the list of an exposure, and over REST", async () => {
    const flat = await rpc(`${gateway.url}/mcp/flat`, "tools/call", { name: "Echo-look-up" });
    expect(sentOf(flat)).toBe('{"name":"Look-Up"}');
    const spaced = await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", { name: "echo__look-up" });
    expect(sentOf(spaced)).toBe('{"name":"Look-Up"}');
    const rest = await send(`${gateway.url}/execute/${encodeURIComponent("echo/look-up")}`, { headers: json });
    expect(rest.json.tool_path).toBe("echo:Look-Up");
  });

  test.each(["closed:Look-Up", "closed/Look-Up", "CLOSED:LOOK-UP", " closed/look-up"])(
    "%j does not reach a tool that is switched off",
    async (name) => {
      expect(sentOf(await call(name))).toMatch(/TOOL_UNKNOWN|POLICY_DENIED|TOOL_DISABLED/);
    },
  );
});
