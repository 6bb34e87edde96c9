import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Intent } from "../../src/catalog/exposure/intent.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { frontNames, mcpFronts, type Exposure, type Got, type McpFront } from "./fronts.ts";

/** One thing to be done, and how each kind of front is asked for it. */
interface Row {
  readonly what: string;
  readonly exposure: Exposure;
  readonly method: string;
  readonly params: Record<string, unknown> | (() => Promise<Record<string, unknown>>);
  /** What came of it, whatever the front's own words around it are. */
  readonly fromMcp: (message: Got) => unknown;
  /** The same over REST; undefined where REST does not offer it. */
  readonly overRest: ((url: string) => Promise<unknown>) | undefined;
  readonly outcome: unknown;
  /** The lines that `serve --verbose` writes, without time and duration. */
  readonly lines: readonly string[];
  /** Counters that go up by one. */
  readonly counters: readonly string[];
}

const textOf = (message: Got): unknown => JSON.parse(message.result.content[0].text);
const execution = (path: string, args: object): Record<string, unknown> => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: path, arguments: args },
});
const calls = (method: string, outcome = "ok", server = "worker"): string =>
  `toolyard_calls_total{server="${server}",method="${method}",outcome="${outcome}"}`;
const completed = { ref: { type: "ref/prompt", name: "worker-greet" }, argument: { name: "name", value: "A" } };
const uri = "toolyard://worker/bad%3A%2F%2Ftext";

/** A kind of intent that is not here does not compile. */
const rows = {
  call: [
    {
      what: "a tool that answers",
      exposure: "meta",
      method: "tools/call",
      params: execution("worker:echo", { n: 7 }),
      fromMcp: ({ result }) => [result.isError === true, result.structuredContent],
      overRest: async (url) => {
        const { json } = await run(url, "worker:echo", { n: 7 });
        return [!json.success, json.result.structuredContent];
      },
      outcome: [false, { n: 7 }],
      lines: ["worker:echo ok"],
      counters: [calls("tools/call")],
    },
    {
      what: "a tool that fails",
      exposure: "meta",
      method: "tools/call",
      params: execution("worker:fail", { text: "no" }),
      fromMcp: ({ result }) => [result.isError === true, result.content[0].text],
      overRest: async (url) => {
        const { json } = await run(url, "worker:fail", { text: "no" });
        return [!json.success, json.result.content[0].text];
      },
      outcome: [true, "no"],
      lines: ["worker:fail tool_error"],
      counters: [calls("tools/call", "tool_error")],
    },
    {
      what: "a server that refuses",
      exposure: "meta",
      method: "tools/call",
      params: execution("worker:rpc-error", { code: -32050, message: "not today" }),
      fromMcp: ({ error }) => [error.code, error.message],
      overRest: async (url) => {
        const { json } = await run(url, "worker:rpc-error", { code: -32050, message: "not today" });
        return [json.error.code, json.error.message];
      },
      outcome: [-32050, "not today"],
      lines: ["worker:rpc-error error"],
      counters: [calls("tools/call", "error")],
    },
    {
      what: "arguments that do not fit",
      exposure: "meta",
      method: "tools/call",
      params: execution("worker:headers", { region: 7 }),
      fromMcp: (message) => (textOf(message) as { code: string }).code,
      overRest: async (url) => (await run(url, "worker:headers", { region: 7 })).json.code,
      outcome: "ARGUMENTS_INVALID",
      lines: ["worker:headers ARGUMENTS_INVALID"],
      counters: [calls("tools/call", "ARGUMENTS_INVALID")],
    },
    {
      what: "a bare name",
      exposure: "meta",
      method: "tools/call",
      params: { name: "canary", arguments: {} },
      fromMcp: ({ result }) => result.structuredContent.tool,
      overRest: async (url) => (await run(url, "canary", {})).json.result.structuredContent.tool,
      outcome: "canary",
      lines: ["worker:canary ok"],
      counters: [calls("tools/call"), 'toolyard_bare_names_total{migrated="false"}'],
    },
  ],
  discover: [
    {
      what: "a search",
      exposure: "meta",
      method: "tools/call",
      params: { name: "discover_mcp_tools", arguments: { query: "returns its process id", limit: 1 } },
      fromMcp: (message) => (textOf(message) as Found).tools.map(({ tool_path: path }) => path),
      overRest: async (url) =>
        ((await get(`${url}/api/tools?query=returns%20its%20process%20id&limit=1`)).json as Found).tools.map(
          ({ tool_path: path }) => path,
        ),
      outcome: ["worker:pid"],
      lines: [],
      counters: ['toolyard_searches_total{engine="lexical"}'],
    },
    {
      what: "an empty query, which is no search",
      exposure: "meta",
      method: "tools/call",
      params: { name: "discover_mcp_tools", arguments: { query: "" } },
      fromMcp: (message) => (textOf(message) as { servers: { server: string }[] }).servers.map(({ server }) => server),
      overRest: undefined,
      outcome: ["worker", "tasks"],
      lines: [],
      counters: [],
    },
  ],
  "list-resources": [
    {
      what: "the resources of a server",
      exposure: "meta",
      method: "tools/call",
      params: { name: "list_mcp_resources", arguments: { server: "worker" } },
      fromMcp: (message) => (textOf(message) as { resources: { uri: string }[] }).resources.map((each) => each.uri),
      overRest: async (url) =>
        (await get(`${url}/api/resources?server=worker`)).json.resources.map((each: { uri: string }) => each.uri),
      outcome: ["worker|bad://text", "worker|bad://binary", "worker|ui://bad/panel"],
      lines: [],
      counters: [],
    },
  ],
  read: [
    {
      what: "a resource",
      exposure: "meta",
      method: "resources/read",
      params: { uri },
      fromMcp: ({ result }) => result.contents,
      overRest: async (url) => (await get(`${url}/api/resources/read?uri=${encodeURIComponent(uri)}`)).json.contents,
      outcome: [{ uri, mimeType: "text/plain", text: expect.stringMatching(/^bad:\/\/text of /) }],
      lines: ["worker resources/read bad://text ok"],
      counters: [calls("resources/read")],
    },
  ],
  prompt: [
    {
      what: "a prompt",
      exposure: "meta",
      method: "prompts/get",
      params: { name: "worker-greet", arguments: { name: "Ada" } },
      fromMcp: ({ result }) => result.messages[0].content.text,
      overRest: async (url) => {
        const { json } = await post(`${url}/api/prompts/worker-greet`, { arguments: { name: "Ada" } });
        return json.messages[0].content.text;
      },
      outcome: "Hello, Ada",
      lines: ["worker prompts/get greet ok"],
      counters: [calls("prompts/get")],
    },
  ],
  complete: [
    {
      what: "a completion",
      exposure: "meta",
      method: "completion/complete",
      params: completed,
      fromMcp: ({ result }) => result.completion.values,
      overRest: async (url) => (await post(`${url}/api/complete`, completed)).json.completion.values,
      outcome: ["A-completed"],
      lines: ["worker completion/complete completion ok"],
      counters: [calls("completion/complete")],
    },
  ],
  forward: [
    {
      what: "a question about a task that was handed out over REST",
      exposure: "meta",
      method: "tasks/get",
      params: async () => ({ taskId: await startTaskOverRest() }),
      fromMcp: ({ result }) => result.status,
      overRest: undefined,
      outcome: "working",
      lines: ["tasks:start-task ok", "tasks tasks/get tasks/get ok"],
      // The call is also a use of its namespace, which is loaded.
      counters: [
        calls("tools/call", "ok", "tasks"),
        calls("tasks/get", "ok", "tasks"),
        "toolyard_namespace_hits_total",
      ],
    },
  ],
  "list-namespace": [
    {
      what: "a namespace that is loaded",
      exposure: "namespaces",
      method: "tools/call",
      params: { name: "tasks__list_tools", arguments: {} },
      fromMcp: (message) => (textOf(message) as { tools: { name: string }[] }).tools.map(({ name }) => name.slice(7)),
      overRest: async (url) =>
        (await get(`${url}/list/apps/tasks/tools`)).json.tools.map(({ name }: { name: string }) => name),
      outcome: ["start-task"],
      lines: [],
      counters: ["toolyard_namespace_hits_total"],
    },
  ],
  kept: [
    {
      what: "the second part of a result that was cut",
      exposure: "meta",
      method: "tools/call",
      params: async () => ({ name: "read_mcp_resource", arguments: { uri: await cutSomething() } }),
      // A model reads the note first, a program the text.
      fromMcp: ({ result }) => result.content[1].text.split("\n")[0],
      overRest: async (url) => {
        const { json } = await get(`${url}/api/resources/read?uri=${encodeURIComponent(await cutSomething())}`);
        return json.contents[0].text.split("\n")[0];
      },
      outcome: "line 27 of a long text",
      lines: ["worker:text ok"],
      counters: [calls("tools/call")],
    },
  ],
  answer: [
    {
      what: "the help of the namespaces",
      exposure: "namespaces",
      method: "tools/call",
      params: { name: "toolyard_help", arguments: {} },
      fromMcp: ({ result }) => result.content[0].text.includes("worker"),
      overRest: undefined,
      outcome: true,
      lines: [],
      counters: [],
    },
  ],
} satisfies Record<Intent["kind"], readonly Row[]>;

interface Found {
  readonly tools: readonly { readonly tool_path: string }[];
}

let directory: string;
let gateway: RunningGateway;
let fronts: readonly McpFront[];

async function startTaskOverRest(): Promise<string> {
  const { json } = await run(gateway.url, "tasks:start-task", { unasked: true });
  return json.result.task?.taskId ?? json.result.taskId;
}

/** Calls a tool with a small budget. The URI of the second part of its result. */
async function cutSomething(): Promise<string> {
  const text = Array.from({ length: 300 }, (_, n) => `line ${n} of a long text\n`).join("");
  const { json } = await rpc(`${gateway.url}/mcp`, "tools/call", {
    ...execution("worker:text", { text }),
    _meta: { "toolyard/maxTokens": 400 },
  });
  return `${json.result._meta["toolyard/cut"].uri}?part=2`;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-matrix-"));
  const tools = join(directory, "tools.json");
  await writeFile(tools, JSON.stringify([{ name: "start-task", inputSchema: { type: "object" } }]));
  const mcpServers = {
    worker: badServer("--resources", "--prompts"),
    tasks: badServer("--tasks", "--tools-json", tools),
  };
  gateway = await startGateway({ config: { mcpServers }, args: ["--verbose"] });
  await untilOnline(gateway.url);
  fronts = mcpFronts(gateway);
  // A first load is told as a load, those after it as uses.
  await get(`${gateway.url}/list/apps/tasks/tools`);
});
afterAll(async () => {
  for (const front of fronts) await front[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** What the gateway tells of what it did: the lines of its calls, and the counters that went up. */
async function observed(act: () => Promise<unknown>): Promise<{ outcome: unknown; told: readonly string[] }> {
  const before = await counters();
  const from = gateway.stderr().length;
  const outcome = await act();
  const after = await counters();
  const counted = [...after].flatMap(([name, value]) => Array<string>(value - (before.get(name) ?? 0)).fill(name));
  const called = counted.filter((name) => name.startsWith("toolyard_calls_total")).length;
  const lines = await until(() => {
    const written = callLines(gateway.stderr().slice(from));
    return written.length >= called && written;
  });
  return { outcome, told: [...lines, ...counted.sort()] };
}

/** What `serve --verbose` says of calls in its log, without time and duration. */
function callLines(log: string): string[] {
  return log.split("\n").flatMap((line) => {
    const text = /"component":"calls".*"msg":"\d\d:\d\d:\d\d (.*) {2}\d+ ms"/.exec(line)?.[1];
    return text === undefined ? [] : [text.replace("  ", " ")];
  });
}

const counted = /^(toolyard_(?:calls|searches|bare_names|namespace_hits|namespace_loads)_total(?:\{.*\})?) (\d+)$/gm;

async function counters(): Promise<ReadonlyMap<string, number>> {
  const { text } = await get(`${gateway.url}/metrics`);
  return new Map([...text.matchAll(counted)].map(([, name = "", value]) => [name, Number(value)]));
}

const cells = Object.entries(rows).flatMap(([kind, list]: [string, readonly Row[]]) =>
  list.map((row): [string, string, Row] => [kind, row.what, row]),
);

describe.each(cells)("%s: %s", (_kind, _what, row) => {
  const expected = { outcome: row.outcome, told: [...row.lines, ...[...row.counters].sort()] };

  test.each(frontNames)("over %s", async (name) => {
    const front = fronts.find((each) => each.name === name) as McpFront;
    const got = await observed(async () => {
      const params = typeof row.params === "function" ? await row.params() : row.params;
      return row.fromMcp(await front.ask(row.exposure, row.method, params));
    });
    expect(got).toEqual(expected);
  });

  // REST offers not every kind; there is nothing to skip where it does not.
  if (row.overRest === undefined) return;
  test("over REST", async () => {
    expect(await observed(async () => await row.overRest?.(gateway.url))).toEqual(expected);
  });
});
