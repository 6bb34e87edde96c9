import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, send, type RawAnswer } from "../harness/rpc.ts";

const file = fileURLToPath(new URL("../servers/echo-params-server.mjs", import.meta.url));
const echo = { command: process.execPath, args: [file] };
const strict = { command: process.execPath, args: [file, "--structured"], strictResults: true };

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: { mcpServers: { echo, strict } } });
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

/** One tool in every exposure, called by what that lists it as. */
const ways = {
  "/mcp": async (given: object) =>
    await rpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "echo:echo", arguments: given },
    }),
  "/mcp, 2026-07-28": async (given: object) =>
    await modernRpc(`${gateway.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "echo:echo", arguments: given },
    }),
  "/mcp/flat": async (given: object) =>
    await rpc(`${gateway.url}/mcp/flat`, "tools/call", { name: "echo-echo", arguments: given }),
  "/mcp/namespaces": async (given: object) =>
    await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", { name: "echo__echo", arguments: given }),
};

function textsOf({ json }: RawAnswer): readonly string[] {
  return (json.result.content as readonly { text: string }[]).map(({ text }) => text);
}

const unusual = [
  ["when", "2026-01-01T10:00:00"],
  ["when", "2026-01-01"],
  ["day", "1 January"],
  ["at", "10:00"],
  ["id", "550e8400e29b41d4a716446655440000"],
  ["link", "/tmp/x"],
  ["mail", "jo@exämple.de"],
  ["long", "3 days"],
  ["either", "2026-01-01"],
] as const;

describe.each(Object.entries(ways))("at %s", (where, call) => {
  test.each(unusual)("the server decides whether %s may be %s", async (name, value) => {
    const [text, ...more] = textsOf(await call({ [name]: value }));
    expect(text).toContain(`"arguments":${JSON.stringify({ [name]: value })}`);
    expect(more).toEqual([]);
  });

  const hint =
    '`when` should be a date-time such as 2026-01-01T10:00:00Z; got "2026-01-01". `id` should be a uuid such as 550e8400-e29b-41d4-a716-446655440000.';

  test("a result that refuses a call is followed by what the formats ask for", async () => {
    const { json } = await call({ when: "2026-01-01", id: "x", refuse: "result" });
    expect(json.result).toMatchObject({
      content: [
        { type: "text", text: "no" },
        { type: "text", text: `Note from Toolyard: ${hint}` },
      ],
      isError: true,
      _meta: { "toolyard/hint": hint },
    });
  });

  test("an error that refuses a call is passed on, with what the formats ask for in its data", async () => {
    const { json } = await call({ when: "2026-01-01", id: "x", refuse: "error" });
    expect(json.error).toEqual({ code: -32602, message: "no", data: { "toolyard/hint": hint } });
    const kept = await call({ when: "2026-01-01", id: "x", refuse: "data" });
    expect(kept.json.error.data).toEqual({ "toolyard/hint": hint, own: 1 });
  });

  test("a refusal of values that have their formats says nothing of them", async () => {
    const { json } = await call({ when: "2026-01-01T10:00:00Z", refuse: "result" });
    expect(json.result.content).toEqual([{ type: "text", text: "no" }]);
    expect(json.result._meta?.["toolyard/hint"], where).toBeUndefined();
  });
});

test("where one server is shown unchanged, its refusal is too", async () => {
  const { json } = await rpc(`${gateway.url}/mcp/server/echo`, "tools/call", {
    name: "echo",
    arguments: { when: "x", refuse: "result" },
  });
  expect(json.result).toEqual({ content: [{ type: "text", text: "no" }], isError: true });
});

test("over REST the content stays the server's, and the hint stands in _meta", async () => {
  const { json } = await send(`${gateway.url}/execute/echo:echo`, {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ when: "x", refuse: "result" }),
  });
  expect(json.result).toMatchObject({
    content: [{ type: "text", text: "no" }],
    _meta: { "toolyard/hint": expect.stringContaining("`when`") as string },
  });
});

test("a structured result is not refused for a format, with strictResults either", async () => {
  const { json } = await rpc(`${gateway.url}/mcp/flat`, "tools/call", { name: "strict-echo", arguments: {} });
  expect(json.result.structuredContent).toEqual({ when: "2026-01-01 10:00" });
});
