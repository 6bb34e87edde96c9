import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modernRpc, rpc, type RawAnswer } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { startFourServers, type FourServers } from "./four-servers.ts";
import { openSession, type OpenStream, type RawSession } from "./stream.ts";

let four: FourServers;

beforeAll(async () => (four = await startFourServers("--http-sse-answers", "--resources", "--prompts", "--asking")));
afterAll(async () => await four[Symbol.asyncDispose]());

const modernServers = ["modern-stdio", "modern-http"] as const;
const legacyServers = ["legacy-stdio", "legacy-http"] as const;
const exposures = ["meta", "flat", "server"] as const;
type Exposure = (typeof exposures)[number];

/** Where a tool of a server is called at an exposure, and with which params. */
function callOf(exposure: Exposure, server: string, tool: string, args: object = {}) {
  const url = `${four.gateway.url}/mcp`;
  if (exposure === "server") return { url: `${url}/server/${server}`, params: { name: tool, arguments: args } };
  if (exposure === "flat") return { url: `${url}/flat`, params: { name: `${server}-${tool}`, arguments: args } };
  return { url, params: { name: "execute_mcp_tool", arguments: { tool_path: `${server}:${tool}`, arguments: args } } };
}

const everywhere = (servers: readonly string[]) =>
  exposures.flatMap((exposure) => servers.map((server) => ({ exposure, server })));

interface UrlQuestion {
  readonly id: string;
  readonly params: { readonly url: string; readonly elicitationId: string };
}

describe.each(everywhere(modernServers))("a legacy client in front of $server, exposure $exposure", (where) => {
  const { exposure, server } = where;

  /** The questions that have come, once there are so many. */
  async function questions(stream: OpenStream, count: number): Promise<readonly UrlQuestion[]> {
    return await until(() => {
      const asked = stream.messages.filter(({ method }) => method === "elicitation/create") as UrlQuestion[];
      return asked.length >= count && asked;
    });
  }

  async function open(): Promise<RawSession> {
    return await openSession(callOf(exposure, server, "").url, {
      capabilities: { elicitation: { form: {}, url: {} } },
    });
  }

  const answer = async (session: RawSession, { id }: UrlQuestion, action: string): Promise<void> =>
    await session.say({ id, result: { action } });

  test("MUST: a question by URL has an elicitationId of its own, in every call and every round [2025-11-25 client/elicitation]", async () => {
    const session = await open();
    const ids = new Set<string>();
    for (const id of [1, 2]) {
      const stream = await session.call(id, "tools/call", callOf(exposure, server, "url-twice").params);
      for (const count of [1, 2, 3]) {
        const question = (await questions(stream, count))[count - 1] as UrlQuestion;
        expect(question.params).toMatchObject({ mode: "url", url: expect.stringContaining("https://example.com/") });
        expect(question.params.elicitationId).toMatch(/^[\w-]{8,}$/);
        ids.add(question.params.elicitationId);
        await answer(session, question, "accept");
      }
      await stream.next((message) => message.id === id);
    }
    expect(ids.size).toBe(6);
    await session.end();
  });

  test("MAY: a client is told when what it opened is done: when the server asks for it no more [2025-11-25 client/elicitation]", async () => {
    const session = await open();
    const stream = await session.call(1, "tools/call", callOf(exposure, server, "url-twice").params);
    for (const count of [1, 2])
      await answer(session, (await questions(stream, count))[count - 1] as UrlQuestion, "accept");
    const [first, second, again] = await questions(stream, 3);
    // The second address is asked for again, so only the first was visited.
    expect(completions(stream)).toEqual([first?.params.elicitationId]);
    expect(again?.params.url).toBe(second?.params.url);
    await answer(session, again as UrlQuestion, "accept");
    expect(await stream.next(({ id }) => id === 1)).toHaveProperty("result");
    const [one, two, three] = [first, second, again].map((question) => question?.params.elicitationId);
    expect(completions(stream)).toEqual([one, two, three]);
    // Before the answer: nothing comes after it.
    expect(stream.messages.at(-1)).toMatchObject({ id: 1 });
    await session.end();
  });

  test.each(["decline", "cancel"])(
    "an address that a person answers with %s is not said to be done",
    async (action) => {
      const session = await open();
      const stream = await session.call(1, "tools/call", callOf(exposure, server, "elicit-url").params);
      const [question] = await questions(stream, 1);
      await answer(session, question as UrlQuestion, action);
      expect(JSON.stringify(await stream.next(({ id }) => id === 1))).toContain(action);
      expect(completions(stream)).toEqual([]);
      await session.end();
    },
  );

  test("nor one whose call failed: whether it was visited is not known", async () => {
    const session = await open();
    const stream = await session.call(1, "tools/call", callOf(exposure, server, "url-twice", { fail: true }).params);
    for (const count of [1, 2, 3])
      await answer(session, (await questions(stream, count))[count - 1] as UrlQuestion, "accept");
    expect(await stream.next(({ id }) => id === 1)).toMatchObject({ result: { isError: true } });
    expect(completions(stream)).toHaveLength(1);
    await session.end();
  });

  test("MUST NOT: no result says resultType, whatever it answers and however large [2025-11-25 basic]", async () => {
    const transparent = exposure === "server";
    const large = callOf(exposure, server, "echo", { text: "é\\n".repeat(60_000) });
    const prefix = exposure === "server" ? "" : `${server}-`;
    const uri = transparent ? "bad://text" : `toolyard://${server}/${encodeURIComponent("bad://text")}`;
    const asked: readonly (readonly [string, unknown])[] = [
      ["tools/call", callOf(exposure, server, "canary").params],
      ["tools/call", callOf(exposure, server, "fail", { text: "no" }).params],
      ["tools/call", callOf(exposure, server, "link").params],
      ["tools/call", callOf(exposure, server, "structured").params],
      ["tools/call", large.params],
      ["tools/list", {}],
      ["resources/list", {}],
      ["resources/templates/list", {}],
      ["resources/read", { uri }],
      ["prompts/list", {}],
      ["prompts/get", { name: `${prefix}plain` }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: `${prefix}greet` }, argument: { name: "name", value: "A" } },
      ],
      ...(transparent ? ([["tools/call", { name: "never-listed" }]] as const) : []),
    ];
    for (const [method, params] of asked) {
      const { json, text } = await rpc(large.url, method, params);
      expect(json.result, `${method} ${JSON.stringify(params).slice(0, 100)} ${text.slice(0, 300)}`).toBeDefined();
      expect(Object.keys(json.result as object), method).not.toContain("resultType");
    }
    // Larger than what is parsed when it is checked, also where a model gets only its beginning.
    expect((await rpc(large.url, "tools/call", large.params)).text.length).toBeGreaterThan(70_000);
  });
});

const completions = (stream: OpenStream): readonly string[] =>
  stream.messages.flatMap(({ method, params }) =>
    method === "notifications/elicitation/complete" ? [params.elicitationId as string] : [],
  );

describe.each(everywhere(legacyServers))("$server asks to open an address, exposure $exposure", (where) => {
  const { exposure, server } = where;
  const call = (other: string) => callOf(exposure, server, "elicit-url-complete", { other });

  test("MAY: who was asked is told with the call's own messages that it is done, and nobody else is [2025-11-25 client/elicitation]", async () => {
    const { url, params } = call("of another call");
    const session = await openSession(url, { capabilities: { elicitation: { form: {}, url: {} } } });
    const other = await openSession(url, { capabilities: { elicitation: { form: {}, url: {} } } });
    const pushed = await other.listen();
    const stream = await session.call(1, "tools/call", params);
    const question = await stream.next(({ method }) => method === "elicitation/create");
    await session.say({ id: question.id, result: { action: "accept" } });
    expect(await stream.next(({ id }) => id === 1)).toHaveProperty("result");
    expect(completions(stream)).toEqual([question.params.elicitationId]);
    // What nobody was asked is told to nobody. What the other client was asked shows that it would have heard.
    await completeAfterwards(other, "mine");
    await until(() => completions(pushed).length > 0);
    expect(completions(pushed)).toEqual(["mine"]);
    pushed.close();
    await session.end();
    await other.end();
  });

  /** Asks a client to open an address, and says that it is done when the call has ended. */
  async function completeAfterwards(client: RawSession, elicitationId: string, asking = "elicit-url"): Promise<void> {
    const stream = await client.call(2, "tools/call", callOf(exposure, server, asking, { elicitationId }).params);
    if (asking === "elicit-url") {
      const { id } = await stream.next(({ method }) => method === "elicitation/create");
      await client.say({ id, result: { action: "accept" } });
    }
    await stream.next(({ id }) => id === 2);
    await say(elicitationId);
  }

  async function say(elicitationId: string): Promise<void> {
    const { url, params } = callOf(exposure, server, "complete-url", { elicitationId });
    expect((await rpc(url, "tools/call", params)).json.result.isError ?? false).toBe(false);
  }

  test.each(["elicit-url", "needs-url"])(
    "MUST: who was asked is told after the call too, and nobody else is (%s) [2025-11-25 client/elicitation]",
    async (asking) => {
      const { url } = callOf(exposure, server, "");
      const capabilities = { elicitation: { form: {}, url: {} } };
      const [one, two] = [await openSession(url, { capabilities }), await openSession(url, { capabilities })];
      const [heardByOne, heardByTwo] = [await one.listen(), await two.listen()];
      const gone = await openSession(url, { capabilities });
      await say("nobody's");
      await completeAfterwards(one, `of-one-${asking}`, asking);
      await completeAfterwards(two, `of-two-${asking}`, asking);
      await gone.call(3, "tools/call", callOf(exposure, server, "needs-url", { elicitationId: "of-gone" }).params);
      await gone.end();
      await say("of-gone");
      // Said twice, told once.
      await say(`of-one-${asking}`);
      await completeAfterwards(one, "last", asking);
      await until(() => completions(heardByOne).includes("last"));
      expect(completions(heardByOne)).toEqual([`of-one-${asking}`, "last"]);
      await until(() => completions(heardByTwo).length > 0);
      expect(completions(heardByTwo)).toEqual([`of-two-${asking}`]);
      for (const stream of [heardByOne, heardByTwo]) stream.close();
      for (const session of [one, two]) await session.end();
    },
  );

  test("a modern client hears nothing of it: its revision has no such notification", async () => {
    const { url, params } = call("of another call");
    const capabilities = { elicitation: { url: {} } };
    const asked = (await modernRpc(url, "tools/call", params, capabilities)).json.result as Asked;
    const inputResponses = Object.fromEntries(
      Object.keys(asked.inputRequests).map((key) => [key, { action: "accept" }]),
    );
    const retried = { ...params, requestState: asked.requestState, inputResponses };
    const done = await modernRpc(url, "tools/call", retried, capabilities);
    expect(done.json.result).toMatchObject({ resultType: "complete", content: [{ text: '{"action":"accept"}' }] });
  });
});

interface Where {
  readonly exposure: Exposure;
  readonly server: string;
}

interface Asked {
  readonly inputRequests: object;
  readonly requestState: string;
}

/** What a client with these capabilities gets when it answers what it was asked by a call of `elicit-twice`. */
async function retry({ exposure, server }: Where, asked: Asked, capabilities: object): Promise<RawAnswer> {
  const { url, params } = callOf(exposure, server, "elicit-twice");
  const inputResponses = Object.fromEntries(
    Object.keys(asked.inputRequests).map((key) => [key, { action: "accept", content: { name: "Ada" } }]),
  );
  const { requestState } = asked;
  return await modernRpc(url, "tools/call", { ...params, requestState, inputResponses }, capabilities);
}

async function ask({ exposure, server }: Where): Promise<Asked> {
  const { url, params } = callOf(exposure, server, "elicit-twice");
  const { json } = await modernRpc(url, "tools/call", params, { elicitation: {} });
  expect(json.result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  return json.result as Asked;
}

/** Requests that the server works on while it answers this one. */
async function inFlight({ exposure, server }: Where): Promise<number> {
  const { url, params } = callOf(exposure, server, "in-flight");
  const { json } = await modernRpc(url, "tools/call", params);
  return (JSON.parse(json.result.content[0].text as string) as { inFlight: number }).inFlight;
}

describe.each(everywhere(modernServers))("a modern client calls $server, exposure $exposure", (where) => {
  test("MUST: a call that does not declare what its question needs is -32021, and not asked [basic/index]", async () => {
    const before = await inFlight(where);
    for (const [tool, capabilities, requiredCapabilities] of [
      ["elicit", {}, { elicitation: { form: {} } }],
      ["elicit", { elicitation: { url: {} }, sampling: {} }, { elicitation: { form: {} } }],
      ["elicit-url", { elicitation: {} }, { elicitation: { url: {} } }],
      ["sample", { elicitation: {} }, { sampling: {} }],
    ] as const) {
      const { url, params } = callOf(where.exposure, where.server, tool);
      const refused = await modernRpc(url, "tools/call", params, capabilities);
      expect(refused.json.result).toBeUndefined();
      expect(refused.json.error).toMatchObject({ code: -32021, data: { requiredCapabilities } });
      expect(refused.status).toBe(400);
    }
    expect(await inFlight(where)).toBe(before);
    // The same call, with what was asked for.
    const { url, params } = callOf(where.exposure, where.server, "elicit");
    const asked = await modernRpc(url, "tools/call", params, { elicitation: { form: {} } });
    expect(asked.json.result).toMatchObject({ resultType: "input_required" });
  });
});

test.each([...modernServers])("MUST: so is what a prompt or a resource of %s asks [basic/index]", async (server) => {
  for (const [method, params] of [
    ["prompts/get", { name: `${server}-asking` }],
    ["resources/read", { uri: `toolyard://${server}/${encodeURIComponent("bad://asking")}` }],
  ] as const) {
    const refused = await modernRpc(`${four.gateway.url}/mcp`, method, params, { sampling: {} });
    expect(refused.json.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
    expect(refused.status).toBe(400);
  }
});

describe.each(everywhere(legacyServers))("a modern client calls $server, exposure $exposure", (where) => {
  test("the server hears that the client cannot be asked, and its answer stands", async () => {
    const { url, params } = callOf(where.exposure, where.server, "elicit");
    for (const capabilities of [{}, { elicitation: { url: {} } }]) {
      const { json } = await modernRpc(url, "tools/call", params, capabilities);
      expect(json.result).toMatchObject({ resultType: "complete" });
      expect(JSON.stringify(json.result)).toMatch(/did not declare|cannot answer/);
    }
  });
});

describe.each(everywhere([...modernServers, ...legacyServers]))(
  "a modern client in front of $server, exposure $exposure",
  (where) => {
    test("MUST: a retry is judged by its own capabilities: without what the next question needs it is -32021, not asked [basic/index]", async () => {
      const before = await inFlight(where);
      for (const capabilities of [{}, { sampling: {} }, { elicitation: { url: {} } }]) {
        const refused = await retry(where, await ask(where), capabilities);
        expect(refused.json.result).toBeUndefined();
        expect(refused.json.error).toMatchObject({
          code: -32021,
          data: { requiredCapabilities: { elicitation: { form: {} } } },
        });
        expect(refused.status).toBe(400);
        // The call is not left waiting for an answer that cannot come.
        await until(async () => (await inFlight(where)) === before);
      }
    });

    test("a retry that declares more than the call did is asked, and answered in the end", async () => {
      const everything = { elicitation: { form: {}, url: {} }, sampling: {} };
      const again = await retry(where, await ask(where), everything);
      expect(again.json.result).toMatchObject({ resultType: "input_required" });
      const done = await retry(where, again.json.result as Asked, everything);
      expect(done.json.result).toMatchObject({
        resultType: "complete",
        content: [{ text: expect.stringContaining("Ada") }],
      });
    });
  },
);
