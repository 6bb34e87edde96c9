import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession } from "./stream.ts";
import { readRecord, startBadHttp } from "./servers.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";

let four: FourServers;
let gateway: RunningGateway;
const servers = fourServers;
const fileOf = (server: string): string => four.fileOf(server);

beforeAll(async () => {
  four = await startFourServers(
    ...["--resources", "--prompts", "--ttl-ms", "5000", "--cache-scope", "public"],
    ...["--bad-x-mcp-header", "--icon", "javascript:alert(1)", "--tool-name", "plain", "--behaviours", "all"],
  );
  ({ gateway } = four);
});
afterAll(async () => await four[Symbol.asyncDispose]());

const url = (path: string): string => `${gateway.url}${path}`;

/** A call through the four tools, in the client's era. */
async function execute(
  era: string,
  server: string,
  tool: string,
  args: object = {},
  more: Record<string, unknown> = {},
): Promise<RawAnswer> {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: `${server}:${tool}`, arguments: args }, ...more };
  return era === "modern"
    ? await modernRpc(url("/mcp"), "tools/call", params)
    : await rpc(url("/mcp"), "tools/call", params);
}

/** The same call at the server's own endpoint. */
async function direct(
  era: string,
  server: string,
  tool: string,
  args: object = {},
  more: Record<string, unknown> = {},
): Promise<RawAnswer> {
  const params = { name: tool, arguments: args, ...more };
  const send = era === "modern" ? modernRpc : rpc;
  return await send(url(`/mcp/server/${server}`), "tools/call", params);
}

/** The result is asked for whole: by default a model gets no more than it can read. */
const uncut = { _meta: { "toolyard/maxTokens": 0 } };

const matrix = ["legacy", "modern"].flatMap((era) => servers.map((server) => ({ era, server })));

describe.each(matrix)("a $era client in front of $server", ({ era, server }) => {
  test("content of every kind, unknown fields and _meta keys of others pass", async () => {
    for (const ask of [execute, direct]) {
      const image = (await ask(era, server, "image")).json.result.content[0];
      expect(image).toMatchObject({ type: "image", mimeType: "image/png", data: expect.any(String) });
      expect((await ask(era, server, "audio")).json.result.content[0]).toMatchObject({
        type: "audio",
        data: expect.any(String),
      });
      const { result } = (await ask(era, server, "unknown-fields")).json;
      expect(result.content).toEqual([
        { type: "text", text: "known", "x-block": { deep: [1] } },
        // The lists of types are closed: official clients would refuse the whole result.
        { type: "text", text: '{"type":"hologram","frames":3}' },
      ]);
      expect(result["x-result"]).toBe(true);
      expect(result._meta["vendor.example/trace"]).toBe("kept");
      expect((await ask(era, server, "structured")).json.result.structuredContent).toEqual({ count: 3 });
      expect((await ask(era, server, "fail", { text: "no" })).json.result).toMatchObject({
        isError: true,
        content: [{ text: "no" }],
      });
    }
  });

  test("large results of many calls at once arrive whole, each at its own call", async () => {
    const sizes = [40_000, 270_000, 900_000, 70_000, 2_500_000, 300_000];
    for (const ask of [execute, direct]) {
      const texts = sizes.map((size, index) => `${index}-${String.fromCharCode(0x61 + index)}é`.repeat(size / 5));
      const answers = await Promise.all(texts.map(async (text) => await ask(era, server, "echo", { text }, uncut)));
      for (const [index, answer] of answers.entries())
        expect(JSON.parse(answer.json.result.content[0].text).text === texts[index]).toBe(true);
    }
  });

  test("MUST: links are the server's own at its own endpoint, and can be read everywhere else [server/resources]", async () => {
    const native = `toolyard://${server}/${encodeURIComponent("bad://text")}`;
    expect((await direct(era, server, "link")).json.result.content[0].uri).toBe("bad://text");
    expect((await direct(era, server, "embedded")).json.result.content[0].resource.uri).toBe("bad://text");
    expect((await execute(era, server, "link")).json.result.content[0]).toMatchObject({ uri: native, "x-kept": 1 });
    expect((await execute(era, server, "embedded")).json.result.content[0].resource.uri).toBe(native);
    const read = await (era === "modern" ? modernRpc : rpc)(url("/mcp"), "resources/read", { uri: native });
    expect(read.json.result.contents[0]).toMatchObject({ uri: native, text: "bad://text of bad-server" });
  });

  test("a template filled in by the client reads what the server's own would have read", async () => {
    const ask = era === "modern" ? modernRpc : rpc;
    for (const path of ["/mcp", "/mcp/flat", "/mcp/namespaces", `/mcp/server/${server}`]) {
      const listed = (await ask(url(path), "resources/templates/list")).json.result.resourceTemplates;
      const templates: string[] = listed.map((item: { uriTemplate: string }) => item.uriTemplate);
      // Each of the four servers lists the same one.
      const [own = ""] = templates.filter((text) => templates.length === 1 || text.includes(`//${server}/`));
      for (const id of ["docs/readme", "100%", "R&D"]) {
        const uri = new UriTemplate(own).expand({ id });
        const read = await ask(url(path), "resources/read", { uri });
        expect(read.json.result.contents[0].text).toBe(`bad://item/${encodeURIComponent(id)} of bad-server`);
      }
    }
  });

  test("MUST: vendor keys and trace context reach the server; the protocol's own keys are the gateway's [basic/index]", async () => {
    const _meta = {
      "vendor.example/a": { b: 1 },
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      tracestate: "x=1",
      baggage: "k=v",
    };
    const seen = JSON.parse((await execute(era, server, "meta", {}, { _meta })).json.result.content[0].text);
    expect(seen).toMatchObject(_meta);
    expect(seen["io.modelcontextprotocol/clientInfo"]?.name ?? "toolyard").toBe("toolyard");
    const result = (await execute(era, server, "reserved-meta")).json.result;
    if (era === "modern") expect(result._meta["io.modelcontextprotocol/serverInfo"].name).toBe("toolyard");
  });

  test("MUST: errors of the server are relayed, with the codes of the client's revision [basic/index]", async () => {
    const own = await execute(era, server, "rpc-error", { code: -31999, message: "mine", data: { kept: [1] } });
    expect(own.json.error).toEqual({ code: -31999, message: "mine", data: { kept: [1] } });
    for (const code of [-32002, -32042])
      expect((await execute(era, server, "rpc-error", { code })).json.error.code).toBe(
        era === "modern" ? -32602 : code,
      );
    const hop = await execute(era, server, "rpc-error", { code: -32022 });
    expect(hop.json.error.code).toBe(-31052);
    const capability = await execute(era, server, "needs-sampling");
    expect(capability.json.error.code).toBe(era === "modern" ? -32021 : -31024);
    expect(capability.status).toBe(era === "modern" ? 400 : 200);
  });

  test("SHOULD: icons and annotations pass untouched, and nobody fetches them [basic/index]", async () => {
    const list = await (era === "modern" ? modernRpc : rpc)(url(`/mcp/server/${server}`), "tools/list");
    const plain = list.json.result.tools.find(({ name }: { name: string }) => name === "plain");
    expect(plain.icons).toEqual([{ src: "javascript:alert(1)" }]);
  });
});

describe.each(["legacy-http", "modern-http"])("headers towards %s", (server) => {
  test("FAULT 45: MUST: tools whose x-mcp-header is invalid are left out, the others stay [streamable-http]", async () => {
    const { tools } = (await rpc(url(`/mcp/server/${server}`), "tools/list")).json.result;
    expect(
      tools.map(({ name }: { name: string }) => name).filter((name: string) => name.startsWith("header-")),
    ).toEqual(["header-good"]);
    expect(gateway.stderr() + gateway.stdout()).toContain("header-crlf");
  });
});

describe("towards a modern server over HTTP", () => {
  const received = (mark: string): Record<string, string> =>
    readRecord(fileOf("modern-http")).find(({ message }) => message?.params?.arguments?.mark === mark)
      ?.headers as Record<string, string>;

  test("FAULT 46: MUST: arguments are mirrored into Mcp-Param-*, coded where they have to be [streamable-http]", async () => {
    const values: readonly (readonly [unknown, string | undefined])[] = [
      ["us-west1", "us-west1"],
      ["a\r\nEvil: 1", `=?base64?${Buffer.from("a\r\nEvil: 1").toString("base64")}?=`],
      ["grün", `=?base64?${Buffer.from("grün").toString("base64")}?=`],
      ["=?base64?eA==?=", `=?base64?${Buffer.from("=?base64?eA==?=").toString("base64")}?=`],
      [" padded ", `=?base64?${Buffer.from(" padded ").toString("base64")}?=`],
      [undefined, undefined],
    ];
    for (const [index, [region, header]] of values.entries()) {
      const mark = `region-${index}`;
      await execute("legacy", "modern-http", "header-good", {
        mark,
        ...(region === undefined ? {} : { region }),
        level: 42,
      });
      const headers = received(mark);
      expect(headers["mcp-param-region"]).toBe(header);
      expect(headers["mcp-param-level"]).toBe("42");
      expect(headers["mcp-method"]).toBe("tools/call");
      expect(headers["mcp-name"]).toBe("header-good");
      expect(headers["evil"]).toBeUndefined();
    }
  });

  test("MUST: a client's own Mcp-Param-* are checked when it calls the tool by name [streamable-http]", async () => {
    const params = { name: "header-good", arguments: { region: "here", level: 42 } };
    const call = async (headers: Record<string, string>): Promise<RawAnswer> =>
      await modernRpc(url("/mcp/server/modern-http"), "tools/call", params, {}, headers);
    expect((await call({ "mcp-param-region": "here", "mcp-param-level": "42.0" })).json.result).toBeDefined();
    expect(
      (
        await call({
          "MCP-PARAM-REGION": `=?base64?${Buffer.from("here").toString("base64")}?=`,
          "mcp-param-level": "42",
        })
      ).json.result,
    ).toBeDefined();
    for (const headers of [
      { "mcp-param-level": "42" },
      { "mcp-param-region": "there", "mcp-param-level": "42" },
      { "mcp-param-region": "=?base64?aGVyZQ?=", "mcp-param-level": "42" },
      { "mcp-param-region": "here", "mcp-param-level": "43" },
    ])
      expect(await call(headers)).toMatchObject({ status: 400, json: { error: { code: -32020 } } });
    const omitted = await modernRpc(url("/mcp/server/modern-http"), "tools/call", {
      name: "header-good",
      arguments: { region: null },
    });
    expect(omitted.json.result).toBeDefined();
  });
});

test("SHOULD: -32020 of a server: its lists are fetched again and the call is made once more [streamable-http]", async () => {
  await using server = await startBadHttp("--era", "modern", "--header-mismatches", "1");
  await using twice = await startBadHttp("--era", "modern", "--header-mismatches", "2");
  await using other = await startGateway({
    config: { mcpServers: { once: { type: "http", url: server.url }, twice: { type: "http", url: twice.url } } },
  });
  const call = async (path: string): Promise<RawAnswer> =>
    await rpc(`${other.url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path: path } });
  await until(async () => (await rpc(`${other.url}/mcp/flat`, "tools/list")).text.includes("twice-canary"));
  await until(async () => (await rpc(`${other.url}/mcp/flat`, "tools/list")).text.includes("once-canary"));
  expect((await call("once:canary")).text).toContain("instance");
  expect((await call("twice:canary")).json.error.code).toBe(-31052);
});

describe("caching hints", () => {
  test("MUST: a server's ttl and scope are passed; several together are as short and as private as the least of them [server/utilities/caching]", async () => {
    const own = await modernRpc(url("/mcp/server/modern-http"), "tools/list");
    expect(own.json.result).toMatchObject({ ttlMs: 5_000, cacheScope: "public" });
    await using server = await startBadHttp("--era", "modern", "--ttl-ms", "9000", "--cache-scope", "public");
    await using short = await startBadHttp("--era", "modern", "--ttl-ms", "1000", "--cache-scope", "private");
    await using both = await startGateway({
      config: { mcpServers: { long: { type: "http", url: server.url }, short: { type: "http", url: short.url } } },
    });
    const list = await until(async () => {
      const { json, text } = await modernRpc(`${both.url}/mcp/flat`, "tools/list");
      return text.includes("long-canary") && text.includes("short-canary") && (json.result as object);
    });
    expect(list).toMatchObject({ ttlMs: 1_000, cacheScope: "private" });
  });

  test("FAULT 52: what was fetched with credentials is private, whatever the server says [server/utilities/caching]", async () => {
    await using server = await startBadHttp("--era", "modern", "--ttl-ms", "9000", "--cache-scope", "public");
    await using other = await startGateway({
      config: { mcpServers: { own: { type: "http", url: server.url, headers: { "X-Key": "k" } } } },
    });
    await until(async () => (await rpc(`${other.url}/mcp/flat`, "tools/list")).text.includes("own-canary"));
    expect((await modernRpc(`${other.url}/mcp/server/own`, "tools/list")).json.result.cacheScope).toBe("private");
  });

  test("MUST NOT: a read is not kept: each is asked of the server [server/utilities/caching]", async () => {
    const count = (): number =>
      readRecord(fileOf("modern-http")).filter(({ message }) => message?.method === "resources/read").length;
    const before = count();
    for (let time = 0; time < 2; time += 1)
      await modernRpc(url("/mcp/server/modern-http"), "resources/read", { uri: "bad://text" });
    expect(count()).toBe(before + 2);
  });
});

test("FAULT 44: MUST NOT: a link to another server's resource leads to its own server only [server/resources]", async () => {
  const linked = (
    await execute("legacy", "legacy-stdio", "link", {
      uri: `toolyard://modern-http/${encodeURIComponent("bad://text")}`,
    })
  ).json.result.content[0];
  const read = await rpc(url("/mcp"), "resources/read", { uri: linked.uri });
  expect(read.json.result).toBeUndefined();
  expect(read.json.error.message).toContain("Unknown resource");
});

describe("a modern server that pushes requests", () => {
  test.each(["modern-stdio", "modern-http"])(
    "FAULT 84: MUST NOT: %s is refused, and the client hears nothing of it [basic/transports/stdio]",
    async (server) => {
      const result = (
        await execute("modern", server, "push", { method: "elicitation/create", params: { message: "?" }, ms: 300 })
      ).json.result;
      expect(result.content[0].text).toMatch(/nothing came back|-32600/);
    },
  );
});

describe("what a transparent endpoint does not know", () => {
  test.each(servers)(
    "unknown tools, methods and params of %s are passed on, and so is what comes back",
    async (server) => {
      const unknown = await rpc(url(`/mcp/server/${server}`), "tools/call", {
        name: "never-listed",
        arguments: { a: 1 },
        task: { ttl: 5 },
      });
      expect(unknown.json.result.structuredContent).toMatchObject({ tool: "never-listed" });
      const method = await rpc(url(`/mcp/server/${server}`), "vendor/method", { a: 1 });
      expect(method.json.error).toMatchObject({ code: -32601, message: "Unknown method vendor/method" });
      const received = readRecord(fileOf(server)).map(({ message }) => message);
      expect(received.find((message) => message?.params?.name === "never-listed")?.params).toMatchObject({
        task: { ttl: 5 },
      });
      expect(received.some((message) => message?.method === "vendor/method")).toBe(true);
    },
  );

  test("MUST: it declares its server's own capabilities and instructions, to the client of either era [server/discover]", async () => {
    for (const server of servers) {
      const { result } = (await modernRpc(url(`/mcp/server/${server}`), "server/discover")).json;
      expect(result.capabilities).toMatchObject({
        tools: { listChanged: true },
        logging: {},
        resources: { subscribe: true },
      });
    }
  });
});

test("task handles pass, and what is asked about a task goes to the server that gave it out", async () => {
  const file = join(four.directory, "tasks.json");
  await writeFile(
    file,
    JSON.stringify([{ name: "start-task", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } }]),
  );
  await using server = await startBadHttp("--era", "both", "--tasks", "--tools-json", file);
  await using other = await startGateway({ config: { mcpServers: { worker: { type: "http", url: server.url } } } });
  await until(async () => (await rpc(`${other.url}/mcp/flat`, "tools/list")).text.includes("worker-start-task"));
  const listed = (await rpc(`${other.url}/mcp/flat`, "tools/list")).json.result.tools[0];
  expect(listed.execution).toEqual({ taskSupport: "optional" });
  const declared = (await modernRpc(`${other.url}/mcp`, "server/discover")).json.result.capabilities;
  expect(declared).toMatchObject({
    extensions: { "io.modelcontextprotocol/tasks": {} },
    tasks: { requests: { tools: { call: {} } } },
  });
  for (const [endpoint, name, args] of [
    ["/mcp", "execute_mcp_tool", { tool_path: "worker:start-task" }],
    ["/mcp/flat", "worker-start-task", {}],
    ["/mcp/server/worker", "start-task", {}],
  ] as const) {
    const started = (
      await rpc(`${other.url}${endpoint}`, "tools/call", { name, arguments: args, task: { ttl: 1_000 } })
    ).json.result;
    expect(started.task).toMatchObject({ status: "working", ttl: 1_000 });
    const got = await rpc(`${other.url}${endpoint}`, "tasks/get", { taskId: started.task.taskId });
    expect(got.json.result).toMatchObject({ taskId: started.task.taskId, status: "working" });
  }
  const modern = (
    await modernRpc(`${other.url}/mcp`, "tools/call", {
      name: "execute_mcp_tool",
      arguments: { tool_path: "worker:start-task" },
      task: {},
    })
  ).json.result;
  expect(modern).toMatchObject({ resultType: "task", taskId: expect.any(String) });
  expect((await modernRpc(`${other.url}/mcp`, "tasks/get", { taskId: modern.taskId })).json.result.taskId).toBe(
    modern.taskId,
  );
  expect((await rpc(`${other.url}/mcp`, "tasks/get", { taskId: "nobody's" })).json.error.code).toBe(-32602);
});

test("notifications that nobody here knows reach the legacy clients of that server alone", async () => {
  const [own, other] = [
    await openSession(url("/mcp/server/legacy-stdio")),
    await openSession(url("/mcp/server/legacy-http")),
  ];
  const [ownStream, otherStream] = [await own.listen(), await other.listen()];
  await rpc(url("/mcp"), "tools/call", {
    name: "execute_mcp_tool",
    arguments: { tool_path: "legacy-stdio:unknown-notification" },
  });
  await ownStream.next(({ method }) => method === "notifications/never/heard/of");
  expect(otherStream.messages).toEqual([]);
  await own.end();
  await other.end();
});
