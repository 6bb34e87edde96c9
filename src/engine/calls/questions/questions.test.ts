import { describe, expect, test } from "vitest";
import { createSealedStates } from "../../../wire/mcp/sealed-state.ts";
import type { CallContext, Era, Question } from "../../../kernel/call/call-context.ts";
import { toJsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { canAnswer, settleQuestions, withServerNamed } from "./questions.ts";

const question = { method: "elicitation/create", params: { message: "Your name?", requestedSchema: {} } };
const asking = {
  resultType: "input_required",
  inputRequests: { name: question },
  requestState: "state-1",
  "x-kept": 1,
};

function round(era: Era, capabilities: object, ask?: CallContext["ask"], takesRoots = false) {
  const context = {
    principal: localPrincipal,
    signal: new AbortController().signal,
    client: { era, revision: "", capabilities: capabilities as never },
    via: "http" as const,
    waitedMs: 0,
    ...(ask === undefined ? {} : { ask }),
  };
  return {
    server: "srv",
    context,
    states: createSealedStates({ lifetimeMs: 60_000, now: () => 0, keys: () => [Buffer.alloc(32)] }),
    binding: "tools/call srv:t",
    takesRoots,
  };
}

const settle = async (
  ours: ReturnType<typeof round>,
  resend: Parameters<typeof settleQuestions>[2] = async () => await Promise.reject(new Error("not expected")),
  first: JsonObject = asking,
) => await settleQuestions({ kind: "result", result: new ResultBytes(toJsonBytes(first), first) }, ours, resend);

describe("what a client can answer", () => {
  test.each([
    [{ elicitation: {} }, "elicitation/create", {}, true],
    [{ elicitation: {} }, "elicitation/create", { mode: "url" }, false],
    [{ elicitation: { url: {} } }, "elicitation/create", { mode: "url" }, true],
    [{ elicitation: { url: {} } }, "elicitation/create", { mode: "form" }, false],
    [{ elicitation: { form: {} } }, "elicitation/create", { mode: "form" }, true],
    [{ elicitation: { form: null } }, "elicitation/create", { mode: "form" }, false],
    [{ elicitation: { form: false } }, "elicitation/create", {}, false],
    [{ elicitation: { form: null, url: {} } }, "elicitation/create", { mode: "url" }, true],
    [{ elicitation: { url: null } }, "elicitation/create", { mode: "url" }, false],
    [{ sampling: {} }, "sampling/createMessage", {}, true],
    [{ sampling: true }, "sampling/createMessage", {}, false],
    [{}, "roots/list", {}, false],
    [{ roots: {}, constructor: {} }, "constructor", {}, false],
    [{ elicitation: {} }, "toString", {}, false],
  ])("%j, asked %s %j: %s", (capabilities, method, params, answer) => {
    expect(canAnswer(capabilities, method, params)).toBe(answer);
  });
});

describe("input_required", () => {
  test("is told from other results, and what is no question in it asks nothing", async () => {
    for (const first of [
      { resultType: "complete", inputRequests: asking.inputRequests },
      { resultType: "input_required", inputRequests: [], requestState: 7 },
    ]) {
      const answer = await settle(round("modern", {}), undefined, first);
      expect((answer as { result: ResultBytes }).result.parsed()).toEqual(first);
    }
  });

  test("FAULT 49: a question that a modern client did not declare is not passed on", async () => {
    await expect(settle(round("modern", { sampling: {} }))).rejects.toMatchObject({ code: "CAPABILITY_MISSING" });
  });

  test("FAULT 48: a modern client gets the server's own keys, the server's name, and a state that opens only for it and this request", async () => {
    const ours = round("modern", { elicitation: {} });
    const reply = await settle(ours);
    const result = JSON.parse((reply as { result: ResultBytes }).result.bytes.toString());
    expect(result).toMatchObject({
      resultType: "input_required",
      "x-kept": 1,
      inputRequests: { name: { method: "elicitation/create", params: { message: "[srv] Your name?" } } },
    });
    expect(result.requestState).not.toContain("state-1");
    expect(() => ours.states.open(result.requestState, { principal: "another", request: ours.binding })).toThrow(
      expect.objectContaining({ code: "HANDLE_INVALID" }),
    );
    expect(() => ours.states.open(result.requestState, { principal: "local", request: "another" })).toThrow(
      expect.objectContaining({ code: "HANDLE_INVALID" }),
    );
    expect(() => ours.states.open(`${result.requestState}x`, { principal: "local", request: ours.binding })).toThrow(
      expect.objectContaining({ code: "HANDLE_INVALID" }),
    );
    expect(ours.states.open(result.requestState, { principal: "local", request: ours.binding })).toBe("state-1");
    // A sealed state is good for one use.
    expect(() => ours.states.open(result.requestState, { principal: "local", request: ours.binding })).toThrow(
      expect.objectContaining({ code: "HANDLE_INVALID" }),
    );
  });

  test("a legacy client is asked for real, and its answers go back with the state as it was", async () => {
    const asked: Question[] = [];
    const ours = round("legacy", { elicitation: {} }, async (given) => {
      asked.push(given);
      return await Promise.resolve({
        kind: "result",
        result: Buffer.from('{"action":"accept","content":{"n":9007199254740993}}'),
      });
    });
    const sent: string[] = [];
    const reply = await settle(ours, async (extra) => {
      sent.push(...extra.map(([key, bytes]) => `${key}=${bytes.toString()}`));
      return await Promise.resolve({
        kind: "result",
        result: new ResultBytes(Buffer.from('{"content":[]}'), { content: [] }),
      });
    });
    expect(asked).toMatchObject([{ method: "elicitation/create", key: "name" }]);
    expect(asked[0]?.params.toString()).toContain("[srv] Your name?");
    expect(sent).toEqual([
      'inputResponses={"name":{"action":"accept","content":{"n":9007199254740993}}}',
      'requestState="state-1"',
    ]);
    expect(reply).toMatchObject({ kind: "result", result: { bytes: Buffer.from('{"content":[]}') } });
  });

  test("a server that never stops asking is stopped", async () => {
    const ours = round(
      "legacy",
      { elicitation: {} },
      async () => await Promise.resolve({ kind: "result", result: Buffer.from("{}") }),
    );
    await expect(
      settle(
        ours,
        async () => await Promise.resolve({ kind: "result", result: new ResultBytes(toJsonBytes(asking), asking) }),
      ),
    ).rejects.toMatchObject({ code: "UPSTREAM_PROTOCOL" });
  });

  test("a legacy client that refuses, or cannot be asked, ends the call with a clear error", async () => {
    await expect(settle(round("legacy", { elicitation: {} }))).rejects.toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
    const refusing = round(
      "legacy",
      { elicitation: {} },
      async () => await Promise.resolve({ kind: "error", error: Buffer.from('{"code":-1,"message":"no"}') }),
    );
    await expect(settle(refusing)).rejects.toMatchObject({
      code: "CLIENT_CANNOT_ANSWER",
      message: expect.stringContaining("no"),
    });
  });

  test("only elicitations get the server's name, and only in their message", () => {
    expect(withServerNamed({ method: "sampling/createMessage", params: { message: "x" } }, "srv")).toEqual({
      method: "sampling/createMessage",
      params: { message: "x" },
    });
    for (const odd of [
      null,
      7,
      {},
      { method: "elicitation/create" },
      { method: "elicitation/create", params: { message: 7 } },
    ])
      expect(withServerNamed(odd, "srv")).toEqual(odd);
  });
});

const sampling = { method: "sampling/createMessage", params: {} };
const byUrl = { method: "elicitation/create", params: { mode: "url" } };
const roots = { method: "roots/list" };

test.each([
  [[question], {}, { elicitation: { form: {} } }],
  [[byUrl], { elicitation: {} }, { elicitation: { url: {} } }],
  [[sampling], {}, { sampling: {} }],
  [[roots], {}, { roots: {} }],
  [[question, byUrl, sampling], { roots: {} }, { elicitation: { form: {}, url: {} }, sampling: {} }],
  [[question, sampling], { elicitation: {} }, { sampling: {} }],
])(
  "FAULT 49: what %j needs is said to a modern client, whether it calls or answers",
  async (questions, has, requiredCapabilities) => {
    const ours = round("modern", has, undefined, true);
    const first = { ...asking, inputRequests: Object.fromEntries(questions.map((one, at) => [`q${at}`, one])) };
    const retried = { ...ours, context: { ...ours.context, requestState: "state-0" } };
    for (const request of [ours, retried])
      await expect(settle(request, undefined, first)).rejects.toMatchObject({
        code: "CAPABILITY_MISSING",
        data: { requiredCapabilities },
      });
  },
);

test.each([[{ method: "vendor/ask", params: {} }], [roots]])(
  "where no capability would help to answer %j, none is asked for",
  async (request) => {
    const first = { ...asking, inputRequests: { name: question, next: request } };
    await expect(settle(round("modern", { elicitation: {} }), undefined, first)).rejects.toMatchObject({
      code: "CLIENT_CANNOT_ANSWER",
      message: expect.stringContaining(request.method),
    });
  },
);
