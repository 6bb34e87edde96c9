import { expect, test } from "vitest";
import type { Answer, CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Conversation } from "./conversation.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { createParkedConversations, type ParkedConversations } from "./parked-conversations.ts";

type Ask = NonNullable<CallContext["ask"]>;
const alice: Principal = { ...localPrincipal, id: "alice" as PrincipalId };
const binding = { principal: alice, request: "tools/call\necho" };
const question = (text: string, key?: string) => ({
  method: "elicitation/create" as const,
  params: Buffer.from(JSON.stringify({ message: text })),
  ...(key === undefined ? {} : { key }),
});
const ways = (capabilities: JsonObject = { elicitation: {} }) => ({
  client: { era: "modern" as const, revision: "2026-07-28", capabilities },
});
const invalid = expect.objectContaining({ code: "HANDLE_INVALID" });

function create(mostParked = 10): { conversations: ParkedConversations; expire: () => void } {
  const timers = new Set<() => void>();
  const after = (_delayMs: number, run: () => void): (() => void) => {
    timers.add(run);
    return () => timers.delete(run);
  };
  const conversations = createParkedConversations({
    parkedMs: 600_000,
    mostParked,
    clock: { now: () => 0, monotonic: () => 0, after },
  });
  return { conversations, expire: () => timers.forEach((run) => run()) };
}

/** A call that asks each of the texts at once and answers with what it was told. */
function beginAsking(conversations: ParkedConversations, ...texts: string[]): Conversation {
  return conversations.begin(binding, ways(), async ({ ask }, signal) => {
    const told = await Promise.all(texts.map(async (text) => await tell(ask, text, signal)));
    return { body: JSON.stringify(told), status: 200 };
  });
}

async function tell(ask: Ask, text: string, signal: AbortSignal): Promise<string> {
  try {
    const answer: Answer = await ask(question(text), signal);
    return answer.kind === "result" ? answer.result.toString() : answer.error.toString();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function questions(
  conversation: Conversation,
): Promise<{ handle: string; inputRequests: Record<string, unknown> }> {
  const turn = await conversation.next();
  if (turn.kind !== "questions") throw new Error("it did not ask");
  return { handle: turn.handle, inputRequests: JSON.parse(turn.inputRequests) as Record<string, unknown> };
}

test("a call that asks nothing is answered at once", async () => {
  const { conversations } = create();
  expect(await beginAsking(conversations).next()).toEqual({ kind: "answer", reply: { body: "[]", status: 200 } });
});

test("questions of the same moment are asked together; answers reach the one that they are for", async () => {
  const { conversations } = create();
  const { handle, inputRequests } = await questions(beginAsking(conversations, "a", "b"));
  expect(inputRequests).toEqual({
    q1: { method: "elicitation/create", params: { message: "a" } },
    q2: { method: "elicitation/create", params: { message: "b" } },
  });
  expect(conversations.isHandle(handle)).toBe(true);
  const resumed = conversations.resume(
    handle,
    binding,
    Buffer.from('{"q2":{"n":9007199254740993},"q1":{"n":1},"other":{}}'),
  );
  expect(await resumed.next()).toEqual({
    kind: "answer",
    reply: { body: JSON.stringify(['{"n":1}', '{"n":9007199254740993}']), status: 200 },
  });
  expect(conversations.parked).toBe(0);
});

test("FAULT 48: a handle is good for nobody else, with no other credential, on no other request, and only once", async () => {
  const { conversations } = create();
  const { handle } = await questions(beginAsking(conversations, "a"));
  const others = [{ ...alice, id: "bob" as PrincipalId }, { ...alice }];
  for (const principal of others)
    expect(() => conversations.resume(handle, { ...binding, principal }, undefined)).toThrowError(invalid);
  expect(() => conversations.resume(handle, { ...binding, request: "tools/call\nother" }, undefined)).toThrowError(
    invalid,
  );
  expect(() => conversations.resume(`${handle}x`, binding, undefined)).toThrowError(invalid);
  const resumed = conversations.resume(handle, binding, undefined);
  expect(() => conversations.resume(handle, binding, undefined)).toThrowError(invalid);
  // What was left out is asked again, under a handle of its own.
  const again = await questions(resumed);
  expect(again.inputRequests).toHaveProperty("q1");
  expect(again.handle).not.toBe(handle);
});

test("nobody answers: the call is cancelled and the handle is worth nothing", async () => {
  const { conversations, expire } = create();
  const conversation = beginAsking(conversations, "a");
  const { handle } = await questions(conversation);
  expire();
  expect(() => conversations.resume(handle, binding, undefined)).toThrowError(invalid);
  expect(await conversation.next()).toMatchObject({ reply: { body: '["QUESTION_TIMEOUT"]' } });
});

test("beyond the most that may be parked, the question is refused and the call goes on", async () => {
  const { conversations } = create(1);
  await questions(beginAsking(conversations, "a"));
  expect(await beginAsking(conversations, "b").next()).toMatchObject({
    kind: "answer",
    reply: { body: '["CLIENT_CANNOT_ANSWER"]' },
  });
});

test("a question that its server took back is not asked", async () => {
  const { conversations } = create();
  const conversation = conversations.begin(binding, ways(), async ({ ask }) => {
    const taken = new AbortController();
    const asked = ask(question("a"), taken.signal).catch(() => "taken back");
    taken.abort();
    return { body: (await asked) === "taken back" ? "taken back" : "answered", status: 200 };
  });
  expect(await conversation.next()).toEqual({ kind: "answer", reply: { body: "taken back", status: 200 } });
});

test("once ended, what is parked is cancelled and whoever asks is told, so that nothing waits for a gateway that stops", async () => {
  const { conversations } = create();
  const parked = beginAsking(conversations, "a");
  const { handle } = await questions(parked);
  conversations.end(() => new GatewayError("DRAINING", "stopping"));
  expect(conversations.parked).toBe(0);
  expect(() => conversations.resume(handle, binding, undefined)).toThrow(invalid);
  for (const conversation of [parked, beginAsking(conversations, "b")])
    expect(await conversation.next()).toEqual({ kind: "answer", reply: { body: '["DRAINING"]', status: 200 } });
});

test("with a credential that is gone, what was asked with it is cancelled, and nobody else's", async () => {
  const { conversations } = create();
  const hers = beginAsking(conversations, "a");
  const { handle } = await questions(hers);
  const other = { ...binding, principal: { ...alice } };
  const kept = conversations.begin(other, ways(), async ({ ask }, signal) => ({
    body: await tell(ask, "b", signal),
    status: 200,
  }));
  const keptHandle = (await questions(kept)).handle;
  conversations.endWhere(
    (principal) => principal === alice,
    () => new GatewayError("UNAUTHORIZED", "the credential is no longer valid"),
  );
  expect(() => conversations.resume(handle, binding, undefined)).toThrowError(invalid);
  expect(await hers.next()).toMatchObject({ reply: { body: '["UNAUTHORIZED"]' } });
  const resumed = conversations.resume(keptHandle, other, Buffer.from('{"q1":1}'));
  expect(await resumed.next()).toMatchObject({ reply: { body: "1" } });
});

test("what is left to ask is judged by the request that waits: one that cannot answer it ends the call", async () => {
  const { conversations } = create();
  const parked = beginAsking(conversations, "a", "b");
  const { handle } = await questions(parked);
  const resumed = conversations.resume(handle, binding, Buffer.from('{"q1":"yes"}'));
  resumed.ways = ways({ sampling: {}, elicitation: { url: {} } });
  expect(await resumed.next()).toEqual({
    kind: "refused",
    error: expect.objectContaining({
      code: "CAPABILITY_MISSING",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    }),
  });
  expect(conversations.parked).toBe(0);
  expect(await resumed.next()).toMatchObject({ kind: "answer" });
});
