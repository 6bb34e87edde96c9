// The scripted model against conversations as clients have them, in each of the model APIs.

import { afterEach, describe, expect, test } from "vitest";
import { startScriptedModel } from "./scripted-model.mjs";
import { callTool, findAndCall, readResource } from "./steps.mjs";

const found = '{"tools":[{"tool_path":"files:read"}]}';
/** What a server may send: markup, another direction of writing, control characters, and 64 KB without a space. */
const worst = `<b>\u202e\u0007${"\u05d0x".repeat(32_768)}`;
const answers = { discover: found, execute: worst, list: "toolyard://notes/text", read: "read", more: "more" };
const steps = [
  ...findAndCall("a file"),
  ...readResource("toolyard", "text"),
  callTool("more", "files:list", { deep: 1 }),
];
const expected = [
  ["discover", "discover_mcp_tools", { query: "a file" }],
  ["execute", "execute_mcp_tool", { tool_path: "files:read", arguments: {} }],
  ["list", "list_mcp_resources", { server: "toolyard" }],
  ["read", "read_mcp_resource", { server: "toolyard", uri: "toolyard://notes/text" }],
  ["more", "execute_mcp_tool", { tool_path: "files:list", arguments: { deep: 1 } }],
];
const schema = (...names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) });
const tools = {
  [`mcp__toolyard__discover_mcp_tools`]: schema("query"),
  [`mcp__toolyard__execute_mcp_tool`]: schema("tool_path", "arguments"),
  list_mcp_resources: schema("server"),
  read_mcp_resource: schema("server", "uri"),
};
const toTools = (toTool) => Object.entries(tools).map(([name, parameters]) => toTool(name, parameters));

let model;
afterEach(() => model.close());

/** How a client of each API asks, and where it finds the call that it is to make. */
const apis = {
  "Anthropic Messages": {
    path: "/v1/messages",
    ask: (history) => ({
      tools: [
        ...toTools((name, input_schema) => ({ name, input_schema })),
        { name: "mcp__other__execute_mcp_tool", defer_loading: true },
      ],
      messages: history,
    }),
    find: ({ content: [block] }) => block.type === "tool_use" && { ...block, arguments: block.input },
    answer: ({ id }, text) => [
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text }] }] },
    ],
  },
  "OpenAI Responses": {
    path: "/v1/responses",
    ask: (history) => ({
      tools: toTools((name, parameters) => ({ type: "function", name, parameters })),
      input: history,
    }),
    find: ({ output: [item] }) => item.type === "function_call" && { ...item, arguments: JSON.parse(item.arguments) },
    answer: ({ call_id }, text) => [{ type: "function_call_output", call_id, output: [{ type: "input_text", text }] }],
  },
  "OpenAI Chat Completions": {
    path: "/v1/chat/completions",
    ask: (history) => ({
      tools: toTools((name, parameters) => ({ type: "function", function: { name, parameters } })),
      messages: history,
    }),
    find({ choices: [{ message }] }) {
      const [call] = message.tool_calls ?? [];
      return call && { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) };
    },
    answer: ({ id }, text) => [{ role: "tool", tool_call_id: id, content: text }],
  },
  "Gemini generateContent": {
    path: "/v1beta/models/some:generateContent",
    ask: (history) => ({
      tools: [{ functionDeclarations: toTools((name, parametersJsonSchema) => ({ name, parametersJsonSchema })) }],
      contents: history,
    }),
    find({ candidates: [{ content }] }) {
      const { functionCall: call } = content.parts[0];
      return call && { name: call.name, arguments: call.args };
    },
    // Without an id: it is known by its place.
    answer: ({ name }, text) => [{ role: "user", parts: [{ functionResponse: { name, response: { output: text } } }] }],
  },
};

async function post(path, body) {
  const response = await fetch(`${model.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  return await response.json();
}

test.each(Object.entries(apis))(
  "%s: every step is taken once, in order, with the arguments of the script",
  async (name, api) => {
    model = await startScriptedModel(steps);
    const history = [];
    const made = [];
    for (;;) {
      const call = api.find(await post(api.path, api.ask(history)));
      if (!call) break;
      const [step] = expected[made.length];
      made.push([step, call.name.split("__").at(-1), call.arguments]);
      history.push(...api.answer(call, answers[step]));
    }
    expect(made).toEqual(expected);
    const seen = model.seen();
    expect([...seen.dialects]).toEqual([name]);
    expect(Object.fromEntries(seen.results)).toEqual(answers);
    expect(seen.first).toEqual(Object.keys(tools));
    expect(seen.executed).toEqual([worst]);
  },
);

describe("what a model is offered", () => {
  const discover = { type: "function", name: "discover_mcp_tools", parameters: schema("query") };
  const inNamespace = { type: "namespace", name: "mcp__toolyard", tools: [discover] };

  test.each([
    ["in the request", { tools: [{ type: "tool_search" }, inNamespace] }, ["tool_search"]],
    [
      "in the conversation",
      { tools: [], input: [{ type: "additional_tools", tools: [{ type: "custom", name: "exec" }, inNamespace] }] },
      ["exec"],
    ],
  ])("a namespace %s is found, and called by its name", async (_where, asked, others) => {
    model = await startScriptedModel(steps);
    const { output } = await post("/v1/responses", asked);
    expect(output[0]).toMatchObject({ name: "discover_mcp_tools", namespace: "mcp__toolyard" });
    expect(model.seen().first).toEqual([...others, "mcp__toolyard.discover_mcp_tools"]);
  });

  test("a client that leaves our names as they are is not taken to have resource tools of its own", async () => {
    model = await startScriptedModel(readResource("toolyard", "text"));
    const bare = ["discover_mcp_tools", "list_mcp_resources"].map((name) => ({ type: "function", function: { name } }));
    const { choices } = await post("/v1/chat/completions", { tools: bare, messages: [] });
    expect(choices[0].message.content).toBe("There is nothing more to do.");
  });

  test("what it can only call from code is noted, and not called", async () => {
    model = await startScriptedModel(readResource("toolyard", "text"));
    const description =
      "### `x`\n```ts\ndeclare const tools: { list_mcp_resources(args: {}): Promise<unknown>; };\n```";
    const exec = { type: "additional_tools", tools: [{ type: "custom", name: "exec", description }] };
    const { output } = await post("/v1/responses", { input: [exec] });
    expect(output[0].type).toBe("message");
    expect(model.seen().first).toEqual(["exec"]);
    expect([...model.seen().tools]).toEqual(["exec", "list_mcp_resources"]);
  });

  test("a search that found nothing is followed by no call", async () => {
    model = await startScriptedModel(steps.slice(0, 2));
    const { messages, ...asked } = apis["Anthropic Messages"].ask([]);
    const first = await post("/v1/messages", { ...asked, messages });
    const refused = apis["Anthropic Messages"].answer(first.content[0], "Permission was not given.");
    const { content } = await post("/v1/messages", { ...asked, messages: refused });
    expect(content[0].type).toBe("text");
  });
});
