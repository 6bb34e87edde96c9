import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installFrameworks } from "../../scripts/agent-frameworks.mjs";
import { createGateway, type Gateway } from "../../src/app/embedded/toolyard.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";

// The examples as they are published, in a project that has the frameworks from npm and Toolyard beside them.
const root = fileURLToPath(new URL("../..", import.meta.url));
let project: string;
let served: RunningGateway;
let gateway: Gateway;

beforeAll(async () => {
  project = await mkdtemp(join(await installFrameworks(), "examples-"));
  await cp(join(root, "examples"), project, { recursive: true });
  const server = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const config = { mcpServers: { everything: { command: process.execPath, args: [server, "stdio"] } } };
  await writeFile(join(project, "mcp.json"), JSON.stringify(config));
  served = await startGateway({ config });
  gateway = await createGateway({ config, dataDir: join(project, "data"), log: { level: "silent" } });
  await gateway.ready();
  await until(async () => (await (await fetch(`${served.url}/api/tools?query=get-sum`)).text()).includes("get-sum"));
}, 300_000);
afterAll(async () => {
  await gateway.stop();
  await served[Symbol.asyncDispose]();
  await rm(project, { recursive: true, force: true });
});

// oxlint-disable-next-line typescript/no-explicit-any -- what is loaded has no types here
const load = async (name: string): Promise<any> => await import(pathToFileURL(join(project, name)).href);

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly output?: { readonly value: unknown };
}
interface ModelCall {
  readonly tools?: readonly { readonly name: string; readonly inputSchema: { readonly properties?: object } }[];
  readonly prompt: readonly { readonly role: string; readonly content: string | readonly Part[] }[];
}

/** A model that decides by what it is shown: its tools, and the results of those that it called. */
async function createModel(decide: (call: ModelCall, results: readonly string[]) => object): Promise<object> {
  const { MockLanguageModelV3 } = (await import(
    pathToFileURL(createRequire(join(project, "x.mjs")).resolve("ai/test")).href
  )) as { MockLanguageModelV3: new (options: object) => object };
  let calls = 0;
  return new MockLanguageModelV3({
    doGenerate: async (call: ModelCall) => {
      const parts = call.prompt.flatMap(({ content }) => (typeof content === "string" ? [] : content));
      const results = parts.filter(({ type }) => type === "tool-result").map(({ output }) => JSON.stringify(output));
      const decision = decide(call, results) as {
        readonly toolName?: string;
        readonly input?: object;
        readonly text?: string;
      };
      calls += 1;
      const content =
        decision.toolName === undefined
          ? [{ type: "text", text: decision.text }]
          : [
              {
                type: "tool-call",
                toolCallId: `call-${calls}`,
                toolName: decision.toolName,
                input: JSON.stringify(decision.input),
              },
            ];
      const unified = decision.toolName === undefined ? "stop" : "tool-calls";
      const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
      return {
        content,
        finishReason: { unified, raw: unified },
        usage: { inputTokens: none, outputTokens: none },
        warnings: [],
      };
    },
  });
}

describe("the Vercel AI SDK", () => {
  test("over MCP, a model finds a tool with one of the four and calls it with another", async () => {
    const shown: string[][] = [];
    const model = await createModel(({ tools = [] }, results) => {
      shown.push(tools.map(({ name }) => name).sort());
      if (results.length === 0) return { toolName: "discover_mcp_tools", input: { query: "add two numbers" } };
      const [, path = ""] = /(everything:get-sum)\b/.exec(results[0] ?? "") ?? [];
      if (results.length === 1)
        return { toolName: "execute_mcp_tool", input: { tool_path: path, arguments: { a: 2, b: 40 } } };
      return { text: results[1] ?? "" };
    });
    const { answerOverMcp } = await load("ai-sdk.mjs");
    const { text, steps } = await answerOverMcp({ model, prompt: "What is 2 + 40?", url: `${served.url}/mcp` });
    expect(text).toContain("The sum of 2 and 40 is 42.");
    expect(steps).toHaveLength(3);
    const four = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];
    expect(shown).toEqual([four, four, four]);
  });

  test("in process, a model gets the tools that were found for its prompt, and calls one", async () => {
    let offered: ModelCall["tools"];
    const model = await createModel(({ tools }, results) => {
      offered ??= tools;
      return results.length === 0
        ? { toolName: "everything__get-sum", input: { a: 2, b: 40 } }
        : { text: results[0] ?? "" };
    });
    const { answerInProcess } = await load("ai-sdk.mjs");
    const { text } = await answerInProcess({ model, prompt: "add two numbers", gateway });
    expect(text).toContain("The sum of 2 and 40 is 42.");
    expect(offered?.length).toBeLessThanOrEqual(5);
    expect(offered?.find(({ name }) => name === "everything__get-sum")?.inputSchema.properties).toHaveProperty("a");
  });
});

describe("LangChain", () => {
  interface LangChainTool {
    readonly name: string;
    invoke(input: object): Promise<unknown>;
  }
  const named = (tools: readonly LangChainTool[], name: string): LangChainTool => {
    const found = tools.find((tool) => tool.name === name);
    if (found === undefined) throw new Error(`${name} is not among ${tools.map((tool) => tool.name).join(", ")}`);
    return found;
  };

  test("over MCP, its adapters list the four tools, find one and call it", async () => {
    const { connectTools } = await load("langchain.mjs");
    const { client, tools } = await connectTools(`${served.url}/mcp`);
    try {
      expect(tools).toHaveLength(4);
      const found = await named(tools, "discover_mcp_tools").invoke({ query: "add two numbers" });
      expect(JSON.stringify(found)).toContain("everything:get-sum");
      const call = { tool_path: "everything:get-sum", arguments: { a: 2, b: 40 } };
      expect(JSON.stringify(await named(tools, "execute_mcp_tool").invoke(call))).toContain("42");
    } finally {
      await client.close();
    }
  });

  test("in process, found tools have their schemas, and run", async () => {
    const { findTools } = await load("langchain.mjs");
    const sum = named(await findTools(gateway, "add two numbers"), "everything__get-sum");
    expect(await sum.invoke({ a: 2, b: 40 })).toBe("The sum of 2 and 40 is 42.");
    await expect(sum.invoke({ a: 2, b: "many" })).rejects.toThrow("did not match expected schema");
  });
});

test("inside a Hono application, the gateway answers whatever no route takes, and ends with it", async () => {
  const env = { ...process.env, PORT: "0", HOME: project, XDG_DATA_HOME: join(project, "hono-data") };
  const child = spawn(process.execPath, [join(project, "hono.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const exited = once(child, "exit");
  try {
    const url = await until(() => /listening on (\S+)/.exec(text)?.[1]);
    expect(await (await fetch(`${url}/hello`)).text()).toBe("hello from Hono");
    const find = async (): Promise<string> => await (await fetch(`${url}/find?need=add+two+numbers`)).text();
    await until(async () => (await find()).startsWith('[{"path":"everything:get-sum"'));
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    const call = { tool_path: "everything:get-sum", arguments: { a: 2, b: 40 } };
    const sum = await client.callTool({ name: "execute_mcp_tool", arguments: call });
    expect(JSON.stringify(sum.content)).toContain("42");
    await client.close();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    // What the gateway refuses, it refuses here too.
    expect((await fetch(`${url}/mcp`, { method: "POST", headers: { Origin: "https://evil.example" } })).status).toBe(
      403,
    );
  } finally {
    child.kill("SIGTERM");
  }
  expect((await exited)[0]).toBe(0);
});
