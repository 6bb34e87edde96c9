import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { get, run, toEvents, untilOnline } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const behaviours = "--behaviours=echo,canary,progress,fail,rpc-error,numbers,key-order,strict,hang,in-flight,link,big";

describe("POST /execute/{name}", () => {
  let gateway: RunningGateway;
  let others: ManyServers;

  beforeAll(async () => {
    others = await startManyServers([
      {
        key: "contextual",
        tools: [
          {
            name: "with_context",
            inputSchema: {
              type: "object",
              properties: { _app_context: { type: "string" } },
              required: ["_app_context"],
            },
          },
        ],
      },
    ]);
    gateway = await startGateway({
      config: {
        mcpServers: {
          "work-mail": { ...badServer(behaviours, "--server-name=work"), displayName: "Work mail" },
          "home-mail": badServer("--behaviours=canary", "--server-name=home"),
          ...others.mcpServers,
        },
      },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await others[Symbol.asyncDispose]();
  });

  test.each(["work-mail:canary", "work-mail-canary", "work_mail__canary", "work_mail.canary"])(
    "%s reaches the tool",
    async (name) => {
      const answer = await run(gateway.url, name);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({
        success: true,
        tool_path: "work-mail:canary",
        result: { structuredContent: { server: "work", tool: "canary" } },
      });
      expect(answer.json.warning).toBeUndefined();
      expect(answer.headers["deprecation"]).toBeUndefined();
    },
  );

  test("a bare name that one tool has is executed with a warning and a Deprecation header", async () => {
    const answer = await run(gateway.url, "echo", { a: 1 });
    expect(answer.json).toMatchObject({ success: true, tool_path: "work-mail:echo" });
    expect(answer.json.warning).toContain("work-mail:echo");
    expect(answer.headers["deprecation"]).toMatch(/^@\d+$/);
    expect(answer.json.result._meta).toBeUndefined();
  });

  test("a bare name that several tools have is refused with all of them", async () => {
    const answer = await run(gateway.url, "canary");
    expect(answer.status).toBe(409);
    expect(answer.headers["content-type"]).toBe("application/problem+json");
    expect(answer.json).toMatchObject({
      status: 409,
      code: "TOOL_AMBIGUOUS",
      tool_paths: ["work-mail:canary", "home-mail:canary"],
    });
  });

  test.each([
    ["slug", "home-mail"],
    ["namespace", "home_mail"],
  ])("X-App-Context says which app a bare name is of, by its %s", async (_kind, context) => {
    const answer = await run(gateway.url, "canary", {}, { "x-app-context": context });
    expect(answer.json).toMatchObject({
      success: true,
      tool_path: "home-mail:canary",
      result: { structuredContent: { server: "home" } },
    });
    expect(answer.headers["deprecation"]).toMatch(/^@\d+$/);
  });

  test("_app_context does the same, and is taken out of the arguments; every other byte stays", async () => {
    const answer = await run(
      gateway.url,
      "echo",
      '{"big":9007199254740993, "_app_context" : "Work mail","z":1e400,"neg":-0}',
    );
    expect(answer.json).toMatchObject({ success: true, tool_path: "work-mail:echo" });
    expect(answer.text).toContain('"structuredContent":{"big":9007199254740993,"z":1e400,"neg":-0}');
  });

  test("_app_context stays when the tool's own schema has it", async () => {
    const own = await run(gateway.url, "contextual:with_context", { _app_context: "kept" });
    expect(JSON.parse(own.json.result.content[0].text)).toEqual({
      server: "contextual",
      tool: "with_context",
      arguments: { _app_context: "kept" },
    });
    const bare = await run(gateway.url, "with_context", { _app_context: "contextual" });
    expect(JSON.parse(bare.json.result.content[0].text).arguments).toEqual({ _app_context: "contextual" });
  });

  test("an unknown app, different apps, and an app that is no string are refused", async () => {
    expect((await run(gateway.url, "canary", {}, { "x-app-context": "nowhere" })).json).toMatchObject({
      status: 404,
      code: "SERVER_UNKNOWN",
    });
    expect(
      (await run(gateway.url, "canary", { _app_context: "home-mail" }, { "x-app-context": "work-mail" })).json,
    ).toMatchObject({ status: 400, code: "PARAMS_INVALID" });
    expect((await run(gateway.url, "canary", { _app_context: 7 })).json).toMatchObject({
      status: 400,
      code: "PARAMS_INVALID",
    });
  });

  test("FAULT 18: numbers, key order and duplicate spellings of a result arrive as the server wrote them", async () => {
    const numbers = await run(gateway.url, "work-mail:numbers");
    expect(numbers.text).toContain(
      '"structuredContent":{"big":9007199254740993,"negativeZero":-0,"huge":1e400,"digits":0.10000000000000000555,"exponent":1E+2}',
    );
    const keys = await run(gateway.url, "work-mail:key-order");
    expect(keys.text).toContain('{"b":1,"a":2,"2":3,"1":4,"esc":"\\u0041\\/"}');
  });

  test("arguments and results are the same bytes as over MCP", async () => {
    const args = '{"n":9007199254740993,"text":"héé","deep":{"b":1,"a":[-0,1e400]}}';
    const rest = await run(gateway.url, "work-mail:echo", args);
    const mcp = await rpc(`${gateway.url}/mcp`, "tools/call", `{"name":"work-mail:echo","arguments":${args}}`);
    const resultOf = (text: string): string => text.slice(text.indexOf('"result":') + 9, text.lastIndexOf("}"));
    expect(resultOf(rest.text)).toBe(resultOf(mcp.text));
  });

  test("arguments that stand on several lines reach a server whose messages are lines", async () => {
    const answer = await run(gateway.url, "work-mail:echo", '{\n  "text": "one\\ntwo",\r\n  "n": 9007199254740993\n}');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("9007199254740993");
    expect(answer.json).toMatchObject({ success: true });
  });

  test("a tool's own failure is 200 with success false, in either form", async () => {
    const failed = await run(gateway.url, "work-mail:fail", { text: "no luck" });
    expect([failed.status, failed.json.success, failed.json.result.content[0].text]).toEqual([200, false, "no luck"]);
    const refused = await run(gateway.url, "work-mail:rpc-error", { code: -32603, message: "broken" });
    expect([refused.status, refused.json.success, refused.json.error]).toMatchObject([
      200,
      false,
      { code: -32603, message: "broken" },
    ]);
  });

  test("links inside results can be read here", async () => {
    const answer = await run(gateway.url, "work-mail:link");
    expect(answer.json.result.content[0].uri).toMatch(/^toolyard:\/\/work-mail\//);
  });

  test("an unknown tool is 404 with the closest ones, wrong arguments 400 with field and signature", async () => {
    const unknown = await run(gateway.url, "work-mail:canari");
    expect(unknown.json).toMatchObject({
      status: 404,
      code: "TOOL_UNKNOWN",
      closest: expect.arrayContaining(["work-mail:canary"]),
      hint: expect.any(String),
    });
    const wrong = await run(gateway.url, "work_mail.strict", { name: 1 });
    expect(wrong.json).toMatchObject({
      status: 400,
      code: "ARGUMENTS_INVALID",
      signature: "{ name: string; count: integer }",
    });
    expect(wrong.headers["content-type"]).toBe("application/problem+json");
  });

  test("progress comes as events when the client takes them, then the answer", async () => {
    const answer = await run(gateway.url, "work-mail:progress", { steps: 3 }, { accept: "text/event-stream" });
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    const events = toEvents(answer.text);
    expect(events.map(({ event }) => event)).toEqual(["progress", "progress", "progress", "result"]);
    expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({ progress: 1, total: 3, message: "step 1" });
    expect(JSON.parse(events[3]?.data ?? "")).toMatchObject({ success: true, tool_path: "work-mail:progress" });
  });

  test("a client that takes both gets events only when there was something to say on the way", async () => {
    const accept = "application/json, text/event-stream";
    expect((await run(gateway.url, "work-mail:canary", {}, { accept })).json).toMatchObject({ success: true });
    expect(toEvents((await run(gateway.url, "work-mail:progress", {}, { accept })).text).at(-1)?.event).toBe("result");
    expect(
      (await run(gateway.url, "work-mail:canary", {}, { accept: "application/json, text/event-stream;q=0" })).headers[
        "content-type"
      ],
    ).toContain("application/json");
  });

  test("a call that fails before anything was said is answered with its status, also to a client that takes events", async () => {
    const answer = await run(gateway.url, "work-mail:strict", {}, { accept: "text/event-stream" });
    expect([answer.status, answer.json.code]).toEqual([400, "ARGUMENTS_INVALID"]);
  });

  test("a client that goes away cancels its call", async () => {
    const request = httpRequest(`${gateway.url}/execute/work-mail:hang`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      agent: false,
    });
    request.on("error", () => undefined);
    request.end("{}");
    const inFlight = async (): Promise<number> =>
      (await run(gateway.url, "work-mail:in-flight")).json.result.structuredContent?.inFlight ??
      JSON.parse((await run(gateway.url, "work-mail:in-flight")).json.result.content[0].text).inFlight;
    await until(async () => (await inFlight()) === 2);
    request.destroy();
    await until(async () => (await inFlight()) === 1);
  });

  test("a result of several megabytes passes whole, its failure known", async () => {
    const answer = await run(gateway.url, "work-mail:big", { blocks: 3 });
    expect(answer.json.success).toBe(true);
    expect(answer.json.result.content).toHaveLength(3);
  });

  test("an empty body means no arguments; the spelling of HTTP does not matter", async () => {
    const answer = await send(`${gateway.url}/execute/work-mail:canary/`, {
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect(answer.json.success).toBe(true);
    expect((await get(`${gateway.url}/execute/work-mail:canary`)).status).toBe(405);
  });
});

describe("namespaceSupport", () => {
  async function withSupport(
    namespaceSupport: object,
    check: (gateway: RunningGateway) => Promise<void>,
  ): Promise<void> {
    await using gateway = await startGateway({
      config: { mcpServers: { one: badServer("--behaviours=canary") }, namespaceSupport },
    });
    await untilOnline(gateway.url);
    await check(gateway);
  }

  test("legacySupport: false refuses bare names, over REST and MCP, and says the path", async () => {
    await withSupport({ legacySupport: false }, async (gateway) => {
      expect((await run(gateway.url, "canary")).json).toMatchObject({
        status: 404,
        code: "TOOL_UNKNOWN",
        closest: ["one:canary"],
      });
      expect((await run(gateway.url, "canary", {}, { "x-app-context": "one" })).status).toBe(404);
      const mcp = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "canary" });
      expect(mcp.json.result).toMatchObject({ isError: true });
      expect((await run(gateway.url, "one.canary")).json.success).toBe(true);
    });
  });

  test("deprecationWarnings: false drops the warnings", async () => {
    await withSupport({ deprecationWarnings: false }, async (gateway) => {
      const answer = await run(gateway.url, "canary");
      expect([answer.json.success, answer.json.warning, answer.headers["deprecation"]]).toEqual([
        true,
        undefined,
        undefined,
      ]);
      const mcp = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "canary" });
      expect(mcp.json.result._meta).toBeUndefined();
    });
  });

  test("autoMigration: true puts the full path into the answer and counts it", async () => {
    await withSupport({ autoMigration: true }, async (gateway) => {
      const answer = await run(gateway.url, "canary");
      expect(answer.json).toMatchObject({ tool_path: "one:canary", migrated: { from: "canary", to: "one:canary" } });
      const mcp = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "canary" });
      expect(mcp.json.result._meta["toolyard/tool_path"]).toBe("one:canary");
      expect((await get(`${gateway.url}/api/namespaces/stats`)).json.migrations).toBe(2);
    });
  });
});
