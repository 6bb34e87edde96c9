import { expect, test } from "vitest";
import { settle } from "../../../../test/harness/manual-clock.ts";
import type { Question } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { createConversation, type AskedQuestions, type Conversation, type Turn } from "./conversation.ts";

const question = (key?: string): Question => ({
  method: "elicitation/create",
  params: Buffer.from("{}"),
  ...(key === undefined ? {} : { key }),
});
const ways = { client: { era: "modern" as const, revision: "2026-07-28", capabilities: { elicitation: {} } } };
const answers = (...keys: string[]) => new Map(keys.map((key) => [key, Buffer.from(`"to ${key}"`)]));

/** A call that asks one question per key, and whose questions are kept by the test. */
function begin(...keys: (string | undefined)[]) {
  const parked: AskedQuestions[] = [];
  const conversation = createConversation(
    ways,
    async ({ ask }, signal) => {
      const told = await Promise.allSettled(keys.map(async (key) => await ask(question(key), signal)));
      return { body: JSON.stringify(told.map(toText)), status: 200 };
    },
    (_conversation, asked) => {
      parked.push(asked);
      return { kind: "questions", handle: `handle ${parked.length}`, inputRequests: [...asked.byKey.keys()].join() };
    },
  );
  return { conversation, parked };
}

function toText(one: PromiseSettledResult<Awaited<ReturnType<Conversation["ask"]>>>): string {
  if (one.status === "rejected") return (one.reason as GatewayError).code;
  return one.value.kind === "result" ? one.value.result.toString() : "error";
}

const answerOf = (turn: Turn): unknown => (turn.kind === "answer" ? JSON.parse(turn.reply.body as string) : turn);

test("questions keep the keys that their server gave; the others are numbered", async () => {
  const { conversation } = begin("name", undefined, undefined);
  expect(await conversation.next()).toMatchObject({ inputRequests: "name,q2,q3" });
});

test("each answer settles its question; those that are left out are asked again, before the call is answered", async () => {
  const { conversation, parked } = begin("a", "b", "c");
  await conversation.next();
  parked[0]?.answer(answers("b", "unknown"));
  expect(await conversation.next()).toMatchObject({ handle: "handle 2", inputRequests: "a,c" });
  parked[1]?.answer(answers("a", "c"));
  expect(answerOf(await conversation.next())).toEqual(['"to a"', '"to b"', '"to c"']);
});

test("questions that cannot be kept are rejected, and the call goes on to its answer", async () => {
  const conversation = createConversation(
    ways,
    async ({ ask }, signal) => {
      const body = await ask(question(), signal).catch((error: unknown) => (error as GatewayError).code);
      return { body: JSON.stringify(body), status: 200 };
    },
    (_conversation, asked) => {
      asked.reject(new GatewayError("CLIENT_CANNOT_ANSWER", "too many wait"));
      return undefined;
    },
  );
  expect(answerOf(await conversation.next())).toBe("CLIENT_CANNOT_ANSWER");
});

test("whoever comes back waits for what the call does next, and not for what was asked before", async () => {
  let goOn = (): void => undefined;
  const conversation = createConversation(
    ways,
    async ({ ask }, signal) => {
      await ask(question("first"), signal);
      await new Promise<void>((resolve) => (goOn = resolve));
      return { body: '"done"', status: 200 };
    },
    (_conversation, asked) => {
      asked.answer(answers("first"));
      return { kind: "questions", handle: "h", inputRequests: "" };
    },
  );
  await conversation.next();
  let turn: Turn | undefined;
  const coming = conversation.next().then((next) => (turn = next));
  await settle();
  expect(turn).toBeUndefined();
  goOn();
  expect(answerOf(await coming)).toBe("done");
});

test("a question that its server takes back before anybody was told is not asked", async () => {
  const taken = new AbortController();
  const { conversation } = begin("kept");
  const asked = conversation.ask(question("taken back"), taken.signal);
  taken.abort(new Error("not needed"));
  await expect(asked).rejects.toThrow("not needed");
  expect(await conversation.next()).toMatchObject({ inputRequests: "kept" });
});

test("cancelling aborts the call, whose own answer still comes", async () => {
  const conversation = createConversation(
    ways,
    async (_conversation, signal) =>
      await new Promise((resolve) =>
        signal.addEventListener("abort", () =>
          resolve({ body: JSON.stringify((signal.reason as GatewayError).code), status: 200 }),
        ),
      ),
    () => undefined,
  );
  conversation.cancel(new GatewayError("CALL_CANCELLED", "the client has gone"));
  expect(answerOf(await conversation.next())).toBe("CALL_CANCELLED");
});
