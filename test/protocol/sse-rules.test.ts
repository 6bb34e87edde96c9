import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, member } from "../harness/known-people.ts";
import { untilOnline } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSse, type RawSse } from "./sse-client.ts";

const config = {
  mcpServers: { bad: { ...badServer(), scope: "shared" } },
  toolyard: {
    limits: { requestBodyBytes: 10_000 },
    principals: Object.fromEntries(["alice", "bob", "eve"].map((person) => [person, member(person)])),
  },
};
const execution = (tool: string, args: object = {}): object => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: `bad:${tool}`, arguments: args },
});

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ config });
  await untilOnline(gateway.url, as("alice"));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

async function openAs(person: string, capabilities: object = {}): Promise<RawSse> {
  const stream = await openSse(`${gateway.url}/sse`, as(person));
  await stream.initialize(capabilities);
  return stream;
}

describe("what is posted", () => {
  let stream: RawSse;
  beforeAll(async () => (stream = await openAs("alice")));
  afterAll(() => stream.close());

  test.each([
    ["no JSON", "{", {}, 400, "PARSE_ERROR"],
    ["nothing", "", {}, 400, "PARSE_ERROR"],
    ["no JSON-RPC", '{"id":1}', {}, 400, "REQUEST_INVALID"],
    ["another type", "{}", { "content-type": "text/plain" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["an encoding", "{}", { "content-encoding": "gzip" }, 415, "MEDIA_TYPE_UNSUPPORTED"],
    ["too much", `{"a":"${"x".repeat(20_000)}"}`, {}, 413, "BODY_TOO_LARGE"],
    [
      "too deep",
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(90)}1${"}".repeat(90)}}`,
      {},
      400,
      "BODY_TOO_DEEP",
    ],
    ["from a foreign site", "{}", { origin: "https://evil.example" }, 403, "ORIGIN_FORBIDDEN"],
    ["to a foreign host", "{}", { host: "evil.example" }, 403, "HOST_FORBIDDEN"],
    ["without a credential", "{}", { authorization: "" }, 401, "UNAUTHORIZED"],
  ])(
    "%s is refused as in Streamable HTTP, and nothing comes on the stream",
    async (_what, body, headers, status, code) => {
      const before = stream.messages.length;
      const answer = await stream.post(body, headers);
      expect([answer.status, answer.json.error.data.code]).toEqual([status, code]);
      const twin = await send(`${gateway.url}/mcp`, {
        headers: { "content-type": "application/json", ...as("alice"), ...headers },
        body,
      });
      expect(twin.json).toEqual(answer.json);
      await stream.call(`after ${before}`, "ping");
      expect(stream.messages).toHaveLength(before + 1);
    },
  );

  test("what is accepted is 202 without a body, whatever becomes of it", async () => {
    for (const message of [
      { id: "x", method: "nothing/such" },
      { method: "notifications/cancelled", params: { requestId: "nobody" } },
      { id: "toolyard-99", result: {} },
    ]) {
      const answer = await stream.post(message);
      expect([answer.status, answer.text]).toEqual([202, ""]);
    }
    expect((await stream.next(({ id }) => id === "x")).error.code).toBe(-32601);
  });

  test("only POST goes there, only GET to the stream, and the stream is nothing but a stream", async () => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await send(stream.messagesUrl, { method, headers: as("alice") });
      expect([answer.status, answer.headers.allow], method).toEqual([405, "POST"]);
    }
    for (const method of ["POST", "PUT", "DELETE"]) {
      const answer = await send(`${gateway.url}/sse`, { method, headers: as("alice") });
      expect([answer.status, answer.headers.allow], method).toEqual([405, "GET"]);
    }
    const json = await send(`${gateway.url}/sse`, {
      method: "GET",
      headers: { ...as("alice"), accept: "application/json" },
    });
    expect(json.status).toBe(406);
  });

  test("a foreign site gets no stream, and its browser no permission", async () => {
    const headers = { ...as("alice"), origin: "https://evil.example" };
    for (const method of ["GET", "OPTIONS"])
      expect((await send(`${gateway.url}/sse`, { method, headers })).status, method).toBe(403);
    const own = await openSse(`${gateway.url}/sse`, { ...as("bob"), origin: gateway.url });
    expect(own.headers["access-control-allow-origin"]).toBe(gateway.url);
    own.close();
  });
});

describe("whose stream it is", () => {
  test("somebody else's is answered like one that does not exist, and does not hear of it", async () => {
    const mine = await openAs("alice");
    const unknown = mine.messagesUrl.replace(/sessionId=.*/, "sessionId=00000000-0000-4000-8000-000000000000");
    const body = JSON.stringify({ jsonrpc: "2.0", id: "foreign", method: "ping" });
    const headers = { "content-type": "application/json", ...as("bob") };
    const [foreign, none, missing] = [
      await send(mine.messagesUrl, { headers, body }),
      await send(unknown, { headers, body }),
      await send(`${gateway.url}/sse/messages`, { headers, body }),
    ];
    expect([foreign.status, foreign.json.error.data.code]).toEqual([404, "SESSION_UNKNOWN"]);
    expect(foreign.text).toBe(none.text);
    expect(missing.text).toBe(none.text);
    const elsewhere = await send(mine.messagesUrl.replace("/sse/", "/sse/flat/"), {
      headers: { ...headers, ...as("alice") },
      body,
    });
    expect(elsewhere.status).toBe(404);
    await mine.call(1, "ping");
    expect(mine.messages.some(({ id }) => id === "foreign")).toBe(false);
    mine.close();
  });

  test("its session is none of Streamable HTTP, and the other way round", async () => {
    const mine = await openAs("alice");
    const id = new URL(mine.messagesUrl).searchParams.get("sessionId") ?? "";
    expect((await rpc(`${gateway.url}/mcp`, "ping", {}, { ...as("alice"), "mcp-session-id": id })).status).toBe(404);
    mine.close();
  });

  test("a stream that was closed is unknown, and so is what its client still posts", async () => {
    const mine = await openAs("alice");
    mine.close();
    await until(async () => (await mine.post({ id: 1, method: "ping" })).status === 404);
  });

  test("a question is answered only by its own client", async () => {
    const mine = await openAs("alice", { elicitation: {} });
    const calling = mine.call("ask", "tools/call", execution("elicit"));
    const question = await mine.next(({ method }) => method === "elicitation/create");
    const theirs = await openAs("bob", { elicitation: {} });
    const answer = (name: string): object => ({ id: question.id, result: { action: "accept", content: { name } } });
    expect((await theirs.post(answer("Mallory"))).status).toBe(202);
    expect((await mine.post(answer("Ada"))).status).toBe(202);
    expect(JSON.stringify(await calling)).toContain("Ada");
    mine.close();
    theirs.close();
  });

  test("who lost the credential loses the stream, initialized or not", async () => {
    const [begun, fresh] = [await openAs("eve"), await openSse(`${gateway.url}/sse`, as("eve"))];
    const { eve: _gone, ...principals } = config.toolyard.principals;
    await writeFile(gateway.configFile, JSON.stringify({ ...config, toolyard: { ...config.toolyard, principals } }));
    await until(() => begun.ended && fresh.ended);
    expect((await send(`${gateway.url}/sse`, { method: "GET", headers: as("eve") })).status).toBe(401);
  });
});
