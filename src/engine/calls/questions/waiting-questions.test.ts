import { expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { Answer, CallContext } from "../../../kernel/call/call-context.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { createWaitingQuestions } from "./waiting-questions.ts";

const [one, other] = ["one", "other"] as InstanceId[] as [InstanceId, InstanceId];
const question = { method: "roots/list" as const, params: Buffer.from("{}") };
const answer: Answer = { kind: "result", result: Buffer.from('{"roots":[]}') };

const client = { era: "modern" };

/** A client that never answers, so that only the signal ends the wait. */
const silent = {
  client,
  ask: async (_question: unknown, signal: AbortSignal) =>
    await new Promise<Answer>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(abortReason(signal)));
    }),
} as unknown as CallContext;

test("an answer comes back; nobody to ask is an error", async () => {
  const questions = createWaitingQuestions({ limitMs: 1_000, mostParked: 1, clock: createManualClock() });
  const signal = new AbortController().signal;
  const context = { client, ask: async () => answer } as unknown as CallContext;
  for (let time = 0; time < 3; time += 1) expect(await questions.ask(one, context, question, signal)).toBe(answer);
  await expect(questions.ask(one, { client } as CallContext, question, signal)).rejects.toMatchObject({
    code: "CLIENT_CANNOT_ANSWER",
  });
});

test("so many may wait per instance, and each only so long; then there is room again", async () => {
  const clock = createManualClock();
  const questions = createWaitingQuestions({ limitMs: 600_000, mostParked: 2, clock });
  const signal = new AbortController().signal;
  const waiting = [1, 2].map(
    async () => await questions.ask(one, silent, question, signal).catch((error: unknown) => error),
  );
  await expect(questions.ask(one, silent, question, signal)).rejects.toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
  const elsewhere = questions.ask(other, silent, question, signal).catch((error: unknown) => error);
  await clock.advance(600_000);
  for (const error of await Promise.all([...waiting, elsewhere]))
    expect(error).toMatchObject({ code: "QUESTION_TIMEOUT" });
  const context = { client, ask: async () => answer } as unknown as CallContext;
  expect(await questions.ask(one, context, question, signal)).toBe(answer);
  await expect(questions.ask(one, context, question, AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
});

test("a person who is asked at once, by a legacy client, parks no call", async () => {
  const clock = createManualClock();
  const questions = createWaitingQuestions({ limitMs: 600_000, mostParked: 2, clock });
  const signal = new AbortController().signal;
  const live = { ...silent, client: { era: "legacy" } } as unknown as CallContext;
  const ask = async (context: CallContext) =>
    await questions.ask(one, context, question, signal).catch((error: unknown) => error);
  const waiting = Array.from({ length: 256 }, () => ask(live));
  expect(await ask(live)).toMatchObject({ code: "CLIENT_CANNOT_ANSWER" });
  const parked = ask(silent);
  await clock.advance(600_000);
  for (const error of await Promise.all([...waiting, parked]))
    expect(error).toMatchObject({ code: "QUESTION_TIMEOUT" });
});
