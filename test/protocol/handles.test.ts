import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { everything } from "./clients.ts";
import { startBadHttp, type HttpServer } from "./servers.ts";
import { modernStream } from "./stream.ts";

const tokens = { alice: "alice-token-000000000000000000", bob: "bob-token-00000000000000000000" };
const servers = ["old", "new"];
let gateway: RunningGateway;
let old: HttpServer;

beforeAll(async () => {
  const people = Object.entries(tokens).map(([name, token]) => [
    name,
    { tokenHash: `sha256:${createHash("sha256").update(token).digest("hex")}` },
  ]);
  // Over HTTP a question belongs to its call, however many are parked.
  old = await startBadHttp("--era", "legacy", "--session");
  gateway = await startGateway({
    config: {
      mcpServers: { old: { type: "http", url: old.url }, new: badServer("--era", "modern") },
      toolyard: { principals: Object.fromEntries(people) as object, limits: { parkedMs: 3_000 } },
    },
  });
  for (const who of ["alice", "bob"] as const)
    for (const server of servers)
      await until(async () => JSON.stringify((await call(who, server, "canary")).json).includes("instance"));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await old[Symbol.asyncDispose]();
});

async function call(
  who: keyof typeof tokens,
  server: string,
  tool: string,
  more: Record<string, unknown> = {},
  args: object = {},
): Promise<RawAnswer> {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: `${server}:${tool}`, arguments: args }, ...more };
  return await modernRpc(`${gateway.url}/mcp`, "tools/call", params, everything, {
    authorization: `Bearer ${tokens[who]}`,
  });
}

interface Asked {
  readonly requestState: string;
  readonly inputRequests: Readonly<Record<string, { method: string; params: object }>>;
}

async function ask(server: string, tool = "elicit"): Promise<Asked> {
  const { json } = await call("alice", server, tool);
  expect(json.result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  return json.result as Asked;
}

/** The same answer to every question. */
function answersTo({ inputRequests }: Asked): object {
  return Object.fromEntries(
    Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { name: "Ada" } }]),
  );
}

describe.each(servers)("the requestState of a call to the %s server", (server) => {
  test("brings the answers to the call that asked", async () => {
    const asked = await ask(server);
    const { json } = await call("alice", server, "elicit", {
      requestState: asked.requestState,
      inputResponses: answersTo(asked),
    });
    expect(json.result).toMatchObject({ resultType: "complete", content: [{ text: expect.stringContaining("Ada") }] });
  });

  test("FAULT 48: MUST: it is refused when altered [basic/patterns/mrtr]", async () => {
    const asked = await ask(server);
    const at = asked.requestState.length - 3;
    const altered = `${asked.requestState.slice(0, at)}${asked.requestState[at] === "A" ? "B" : "A"}${asked.requestState.slice(at + 1)}`;
    for (const requestState of [altered, "typ1.x", "ty1.x.y", "", "x".repeat(10_000)])
      expect(
        (await call("alice", server, "elicit", { requestState, inputResponses: answersTo(asked) })).json.error,
      ).toMatchObject({ code: -32602 });
  });

  test("FAULT 48: MUST: another person, another tool and other arguments are refused; it is still good for its own [basic/patterns/mrtr]", async () => {
    const asked = await ask(server);
    const more = { requestState: asked.requestState, inputResponses: answersTo(asked) };
    expect((await call("bob", server, "elicit", more)).json.error).toMatchObject({ code: -32602 });
    expect((await call("alice", server, "sample", more)).json.error).toMatchObject({ code: -32602 });
    expect((await call("alice", server, "elicit", more, { message: "other" })).json.error).toMatchObject({
      code: -32602,
    });
    expect((await call("alice", server, "elicit", more)).json.result).toMatchObject({ resultType: "complete" });
  });

  test("FAULT 48: SHOULD: it is refused the second time [basic/patterns/mrtr]", async () => {
    const asked = await ask(server);
    const more = { requestState: asked.requestState, inputResponses: answersTo(asked) };
    expect((await call("alice", server, "elicit", more)).json.result).toBeDefined();
    expect((await call("alice", server, "elicit", more)).json.error).toMatchObject({ code: -32602 });
  });

  test("rounds follow each other, each with a state of its own", async () => {
    const first = await ask(server, "elicit-twice");
    const second = (
      await call("alice", server, "elicit-twice", {
        requestState: first.requestState,
        inputResponses: answersTo(first),
      })
    ).json.result as Asked;
    expect(second).toMatchObject({ resultType: "input_required" });
    expect(second.requestState).not.toBe(first.requestState);
    const done = await call("alice", server, "elicit-twice", {
      requestState: second.requestState,
      inputResponses: answersTo(second),
    });
    expect(done.json.result).toMatchObject({ resultType: "complete" });
  });
});

test("MUST: a modern server's own keys are kept, its state is not shown to the client [basic/patterns/mrtr]", async () => {
  const asked = await ask("new");
  expect(Object.keys(asked.inputRequests)).toEqual(["answer"]);
  expect(asked.requestState).not.toContain("elicit");
});

test("SHOULD: what was left unanswered is asked again [basic/patterns/mrtr]", async () => {
  const asked = await ask("old");
  const again = (await call("alice", "old", "elicit", { requestState: asked.requestState, inputResponses: {} })).json
    .result as Asked;
  expect(again).toMatchObject({ resultType: "input_required", inputRequests: asked.inputRequests });
  const done = await call("alice", "old", "elicit", {
    requestState: again.requestState,
    inputResponses: { ...answersTo(again), extra: {} },
  });
  expect(done.json.result.content[0].text).toContain("Ada");
});

test("FAULT 48: SHOULD: nobody answers: the call is cancelled upstream, and the state has expired [basic/patterns/mrtr]", async () => {
  const asked = await ask("old");
  await until(async () => {
    const { json } = await call("alice", "old", "in-flight");
    return (JSON.parse(json.result.content[0].text) as { inFlight: number }).inFlight === 1;
  });
  const late = await call("alice", "old", "elicit", {
    requestState: asked.requestState,
    inputResponses: answersTo(asked),
  });
  expect(late.json.error).toMatchObject({ code: -32602 });
});

test("progress after an answer comes on the request that waits for it", async () => {
  const url = `${gateway.url}/mcp`;
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "old:elicit-then-progress", arguments: {} } };
  const headers = { authorization: `Bearer ${tokens.alice}` };
  const first = await modernStream(
    url,
    1,
    "tools/call",
    { ...params, _meta: { progressToken: "first" } },
    everything,
    headers,
  );
  const asked = (await first.next(({ id }) => id === 1)).result as Asked;
  const more = { requestState: asked.requestState, inputResponses: answersTo(asked) };
  const second = await modernStream(
    url,
    2,
    "tools/call",
    { ...params, ...more, _meta: { progressToken: "second" } },
    everything,
    headers,
  );
  expect(await second.next(({ id }) => id === 2)).toMatchObject({ result: { resultType: "complete" } });
  expect(second.messages[0]).toMatchObject({
    method: "notifications/progress",
    params: { progressToken: "second", progress: 1 },
  });
});

test("a server that asks for ever is stopped; a state without a question goes on by itself", async () => {
  const asked = await ask("new", "ask-for-ever");
  const again = await call("alice", "new", "ask-for-ever", {
    requestState: asked.requestState,
    inputResponses: answersTo(asked),
  });
  expect(again.json.result).toMatchObject({ resultType: "input_required" });
  const stateOnly = (await call("alice", "new", "state-only")).json.result as Asked;
  const done = await call("alice", "new", "state-only", { requestState: stateOnly.requestState });
  expect(done.json.result.content[0].text).toBe("state came back");
});
