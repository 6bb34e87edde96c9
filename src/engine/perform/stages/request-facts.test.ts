import { clientNameOf } from "../../../kernel/client-presence.ts";
import { describe, expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { sampleStanding, sampleView } from "../../../../test/sample-view.ts";
import { slugOf, type ServerIntent } from "../../../catalog/exposure/intent.ts";
import {
  noArguments,
  toCallArguments,
  type CallContext,
  type ClientTraits,
} from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, ServerSlug } from "../../../kernel/ids.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import type { Outcome, Work } from "../work.ts";
import * as facts from "./request-facts.ts";

// A person's own instance of a server has another id than the server, and a tool another path than name.
const own = "notes~anna" as InstanceId;
const catalog = { ...sampleInstance("notes", [{ name: "add note" }]), instance: own };
const view = sampleView([catalog], [sampleStanding("notes", { instance: own })]);
const [tool] = catalog.tools;
const [server] = view.servers;
if (tool === undefined || server === undefined) throw new Error("the sample is empty");

const contextOf = (client: Partial<ClientTraits> = {}): CallContext => ({
  principal: localPrincipal,
  signal: new AbortController().signal,
  client: { era: "modern", revision: "2026-07-28", capabilities: {}, ...client },
  via: "http",
  waitedMs: 0,
});
const work: Work = {
  context: contextOf(),
  view,
  request: { method: "tasks/get", params: {}, paramBytes: () => undefined },
};

const given = Buffer.from('{"n":9007199254740993}');
const prompt = { server: "notes" as ServerSlug, definition: { name: "summary" } };
const intents: Readonly<Record<string, ServerIntent>> = {
  call: { kind: "call", instance: own, tool, arguments: toCallArguments(given), warning: undefined },
  read: { kind: "read", server, uri: "note://1", as: "native" },
  prompt: { kind: "prompt", instance: own, prompt, arguments: given },
  complete: { kind: "complete", server, ref: { type: "ref/prompt", name: "summary" } },
  forward: { kind: "forward", server },
};

describe("a record of a request", () => {
  test.each([
    ["call", "tools/call", "add note", "notes:add note"],
    ["read", "resources/read", "note://1", "note://1"],
    ["prompt", "prompts/get", "summary", "summary"],
    ["complete", "completion/complete", "completion", "completion"],
    ["forward", "tasks/get", "tasks/get", "tasks/get"],
  ])("of a %s names the protocol's method, the server's name and the clients' path", (kind, method, name, path) => {
    const intent = intents[kind] as ServerIntent;
    expect(facts.methodOf(intent, work)).toBe(method);
    expect(facts.nameOf(intent, work)).toBe(name);
    expect(facts.pathOf(intent, work)).toBe(path);
  });

  test.each(Object.keys(intents))("of a %s names the server, and whose instance of it answers", (kind) => {
    const intent = intents[kind] as ServerIntent;
    expect([slugOf(intent), facts.instanceOf(intent)]).toEqual(["notes", "notes~anna"]);
  });

  test("of what is passed on has no method where the front gave no request", () => {
    expect(facts.methodOf({ kind: "forward", server }, { context: contextOf(), view })).toBe("");
  });

  test("has the arguments of calls and prompts as the client wrote them, and none of others", () => {
    const bytesOf = (kind: string) => facts.argumentsOf(intents[kind] as ServerIntent)?.toString();
    expect([bytesOf("call"), bytesOf("prompt")]).toEqual([given.toString(), given.toString()]);
    expect([bytesOf("read"), bytesOf("complete"), bytesOf("forward")]).toEqual([undefined, undefined, undefined]);
    const bare = { kind: "call", instance: own, tool, arguments: noArguments, warning: undefined } as const;
    expect(facts.argumentsOf(bare)).toBeUndefined();
  });
});

describe("the end of a request", () => {
  const resultOf = (json: string, cutTokens?: number): Outcome => ({
    kind: "result",
    result: new ResultBytes(Buffer.from(json)),
    cutTokens,
  });
  const errorOf = (json: string): Outcome => ({ kind: "error", error: Buffer.from(json) });
  const failure = new GatewayError("UPSTREAM_TIMEOUT", "it took too long");

  test.each<[string, Outcome | GatewayError, string, number | undefined]>([
    ["a result", resultOf('{"content":[]}'), "ok", undefined],
    ["a tool's error", resultOf('{"content":[],"isError":true}'), "tool_error", undefined],
    ["a result that denies an error", resultOf('{"content":[],"isError":false}'), "ok", undefined],
    ["a text about errors", resultOf(String.raw`{"content":[{"text":"\"isError\":true"}]}`), "ok", undefined],
    ["the server's error", errorOf('{"code":-32042,"message":"no"}'), "error", -32042],
    ["an error without a number", errorOf('{"message":"no"}'), "error", -32603],
    ["an error that is none", errorOf('"no"'), "error", -32603],
    ["our own failure", failure, "UPSTREAM_TIMEOUT", undefined],
    ["an answer of our own", { kind: "own", result: { isError: true } }, "ok", undefined],
  ])("with %s is told by a word, and the server's error by its number", (_end, ended, word, code) => {
    expect(facts.outcomeWord(ended)).toBe(word);
    expect(facts.serverCodeOf(ended)).toBe(code);
  });

  test("is measured by what the client is given: a result, the server's error, nothing of ours", () => {
    expect(facts.answerOf(resultOf('{"content":[]}'))?.toString()).toBe('{"content":[]}');
    expect(facts.answerOf(errorOf('{"code":1,"message":"no"}'))?.toString()).toBe('{"code":1,"message":"no"}');
    expect(facts.answerOf(failure)).toBeUndefined();
    expect(facts.answerOf({ kind: "own", result: {} })).toBeUndefined();
  });

  test("counts the tokens that were kept back, and 0 where none were", () => {
    expect(facts.cutTokensOf(resultOf("{}", 42))).toBe(42);
    for (const ended of [resultOf("{}"), errorOf("{}"), failure, { kind: "own", result: {} } as const])
      expect(facts.cutTokensOf(ended)).toBe(0);
  });
});

describe("a client's name", () => {
  test.each<[string, Partial<ClientTraits>, string | undefined]>([
    ["is what it said when it began", { name: "editor" }, "editor"],
    ["is what its request says", { info: { name: "agent", version: "1" } }, "agent"],
    ["is what it said when it began, if it says both", { name: "editor", info: { name: "agent" } }, "editor"],
    ["is cut at 64 characters", { name: "x".repeat(65) }, "x".repeat(64)],
    ["is whole with 64 characters", { info: { name: "y".repeat(64) } }, "y".repeat(64)],
    ["is none where it says nothing", {}, undefined],
    ["is none where it is no text", { info: { name: 5 } }, undefined],
    ["is none where the client's info is no object", { info: ["agent"] }, undefined],
  ])("%s", (_what, client, name) => {
    expect(clientNameOf(contextOf(client))).toBe(name);
  });
});
