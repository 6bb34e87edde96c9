import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { startManyServers, type ManyServers } from "../harness/many-servers.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";

const oddNames = [
  "",
  "x".repeat(1_000),
  "with space",
  "🙂 smile",
  "line\nbreak",
  "nul\\u0000",
  "../up",
  "__proto__",
  "constructor",
  "a/b",
  "percent%2Fname",
];

describe("bad input over REST", () => {
  let gateway: RunningGateway;
  let servers: ManyServers;

  beforeAll(async () => {
    servers = await startManyServers([{ key: "odd", tools: oddNames.map((name) => ({ name })) }]);
    gateway = await startGateway({
      config: { mcpServers: { bad: badServer("--behaviours=echo,canary,hang", "--duplicate"), ...servers.mcpServers } },
    });
    await untilOnline(gateway.url);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  const execute = (body: string | Buffer, headers: Record<string, string> = {}) =>
    send(`${gateway.url}/execute/bad:echo`, { headers: { "content-type": "application/json", ...headers }, body });

  test.each([
    ["FAULT 2: truncated JSON", '{"a":', "PARSE_ERROR"],
    ["FAULT 3: a number", "1", "REQUEST_INVALID"],
    ["FAULT 3: a text", '"x"', "REQUEST_INVALID"],
    ["FAULT 3: an array", "[{}]", "REQUEST_INVALID"],
    ["FAULT 14: 65 levels", `{"a":${"[".repeat(65)}${"]".repeat(65)}}`, "BODY_TOO_DEEP"],
    ["FAULT 14: a million levels", `{"a":${"[".repeat(1_000_000)}`, "BODY_TOO_DEEP"],
    ["FAULT 17: invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "PARSE_ERROR"],
    ["FAULT 17: a byte-order mark", Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), "PARSE_ERROR"],
  ])("%s → 400", async (_fault, body, code) => {
    const answer = await execute(body);
    expect([answer.status, answer.json.code, answer.headers["content-type"]]).toEqual([
      400,
      code,
      "application/problem+json",
    ]);
    expect(answer.json).toMatchObject({
      type: `urn:toolyard:error:${code}`,
      title: expect.any(String),
      detail: expect.any(String),
      hint: expect.any(String),
    });
  });

  test("FAULT 13: a body above the limit is 413, by its length and by what comes", async () => {
    const { hostname, port } = new URL(gateway.url);
    const head = (framing: string): string =>
      `POST /execute/bad:echo HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    for (const sent of [
      head(`Content-Length: ${4 * 1024 * 1024 + 1}`),
      head("Transfer-Encoding: chunked") + chunk.repeat(66),
    ])
      expect(await firstAnswer(hostname, Number(port), sent)).toMatch(/^HTTP\/1\.1 413 [^]*"code":"BODY_TOO_LARGE"/);
  });

  test("FAULT 15, 16: __proto__ is plain data, the last of duplicate keys counts and is what is sent", async () => {
    const proto = await execute('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}');
    expect(proto.text).toContain(
      '"structuredContent":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
    );
    const twice = await execute('{"a":1,"a":2}');
    expect(twice.json.result.structuredContent).toEqual({ a: 2 });
  });

  test("FAULT 19: an encoded body is 415", async () => {
    const answer = await execute(gzipSync(Buffer.alloc(10_000)), { "content-encoding": "gzip" });
    expect([answer.status, answer.json.code]).toEqual([415, "MEDIA_TYPE_UNSUPPORTED"]);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])(
    "FAULT 21, 33, 34: content type %j is 415 on every route that changes something",
    async (type) => {
      const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
      for (const path of [
        "/execute/bad:echo",
        "/api/instances/bad/restart",
        "/api/instances/bad/stop",
        "/api/instances/bad/refresh",
        "/api/instances/bad/token",
        "/api/servers/bad/refresh",
      ]) {
        expect((await send(gateway.url + path, { headers, body: "{}" })).status).toBe(415);
        expect((await send(gateway.url + path, { headers })).status).toBe(415);
      }
    },
  );

  test.each(["https://evil.com", "null", "http://localhost.evil.com"])(
    "FAULT 31, 34: Origin %s is 403 as problem details",
    async (origin) => {
      for (const path of ["/execute/bad:echo", "/api/instances/bad/stop"]) {
        const answer = await post(gateway.url + path, {}, { origin });
        expect([answer.status, answer.json.code, answer.headers["access-control-allow-origin"]]).toEqual([
          403,
          "ORIGIN_FORBIDDEN",
          undefined,
        ]);
      }
      expect(
        (
          await send(`${gateway.url}/execute/x`, {
            method: "OPTIONS",
            headers: { origin, "access-control-request-method": "POST" },
          })
        ).status,
      ).toBe(403);
    },
  );

  test("FAULT 22: another method is 405 with Allow, HEAD is GET without its body", async () => {
    for (const [path, allow] of [
      ["/execute/bad:echo", "POST"],
      ["/namespaces", "GET, HEAD"],
      ["/api/instances/bad/stop", "POST"],
    ] as const) {
      const answer = await send(gateway.url + path, { method: "PUT", headers: { "content-type": "application/json" } });
      expect([answer.status, answer.headers["allow"]]).toEqual([405, allow]);
    }
    expect((await get(`${gateway.url}/api/instances/bad/stop`)).status).toBe(405);
    expect(await send(`${gateway.url}/namespaces`, { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
  });

  test("FAULT 55: odd tool names are called by path and by every listed name, or left out with a reason", async () => {
    const { tools } = (await get(`${gateway.url}/api/tools?server=odd`)).json as {
      tools: readonly { tool_path: string; name: string }[];
    };
    expect(tools.map((tool) => tool.name)).toEqual(oddNames.slice(1));
    expect(gateway.stderr()).toContain("its name is empty");
    for (const { tool_path, name } of tools) {
      const { spellings } = (await get(`${gateway.url}/api/tools/${encodeURIComponent(tool_path)}`)).json;
      for (const spelling of Object.values(spellings) as string[]) {
        const answer = await run(gateway.url, spelling);
        expect([spelling, JSON.parse(answer.json.result.content[0].text).tool]).toEqual([spelling, name]);
      }
    }
  });

  test("FAULT 56: of a tool listed twice the first is kept", async () => {
    const { tools } = (await get(`${gateway.url}/list/apps/bad/tools`)).json;
    expect(tools.filter((tool: { name: string }) => tool.name === "twin")).toHaveLength(1);
  });

  test("FAULT 59: cursors of nobody are refused", async () => {
    for (const path of ["/api/tools?cursor=-1", "/api/tools?cursor=abc", "/api/resources?cursor=1e9"])
      expect((await get(gateway.url + path)).json).toMatchObject({ status: 400, code: "CURSOR_INVALID" });
  });

  test("FAULT 62: queries of any size and content are answered or 400", async () => {
    for (const query of ["x".repeat(1_000), "   ", "*", '"; DROP TABLE tools; --', "NEAR(a b)", "-", "🙂", "(a+)+$"])
      expect((await get(`${gateway.url}/api/tools?query=${encodeURIComponent(query)}`)).status).toBe(200);
    expect((await get(`${gateway.url}/api/tools?query=${"x".repeat(11_000)}`)).json).toMatchObject({
      status: 400,
      code: "QUERY_INVALID",
    });
  });

  test.each(["/execute/%ff", "/execute/%", "/list/apps/%/tools", "/api/instances/%E0%A4%A/stop"])(
    "a broken percent-encoding (%s) is 400",
    async (path) => {
      const answer = await post(gateway.url + path);
      expect([answer.status, answer.headers["content-type"]]).toEqual([400, "application/problem+json"]);
    },
  );

  test("names that mean nothing are 404 with code and hint, however long", async () => {
    for (const path of [
      "/api/instances/nothing",
      "/list/apps/nothing/tools",
      `/api/tools/${"x".repeat(4_000)}`,
      "/nowhere",
      "/api",
    ]) {
      const answer = await get(gateway.url + path);
      expect([path, answer.status, typeof answer.json.code, typeof answer.json.hint]).toEqual([
        path,
        404,
        "string",
        "string",
      ]);
    }
    for (const path of [
      "/execute/nothing",
      "/execute/toString",
      "/api/servers/nothing/refresh",
      "/api/instances/nothing/restart",
    ])
      expect((await post(gateway.url + path)).status).toBe(404);
  });

  test("query parameters of a wrong kind are 400 that name the field", async () => {
    for (const [path, field] of [
      ["/api/tools?detail=everything", "querystring.detail"],
      ["/api/tools?query=a&query=b", "querystring.query"],
      ["/list/apps?status=maybe", "querystring.status"],
    ])
      expect((await get(`${gateway.url}${path}`)).json).toMatchObject({ status: 400, code: "PARAMS_INVALID", field });
  });

  test("FAULT 95: fields that claim rights are ignored, or passed to the tool as plain arguments", async () => {
    const claims = { userId: "x", teamId: "x", role: "admin", isAdmin: true, owner: "x", scopes: ["*"] };
    expect((await post(`${gateway.url}/api/instances/bad/refresh`, claims)).json).toMatchObject({
      id: "bad",
      scope: "shared",
    });
    expect((await run(gateway.url, "bad:echo", claims)).json.result.structuredContent).toEqual(claims);
  });

  test("the gateway is well after all that", async () => {
    expect((await get(`${gateway.url}/healthz`)).status).toBe(200);
    expect(gateway.stderr()).not.toMatch(/unhandled|UnhandledPromise|"level":"error"|MaxListeners/i);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

/** What comes back until the connection ends, whether or not everything could be sent. */
async function firstAnswer(host: string, port: number, sent: string): Promise<string> {
  return await new Promise((resolve) => {
    let received = "";
    const socket = connect(port, host, () => socket.write(sent));
    socket.on("data", (data) => (received += data.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}
