import { expect, test, vi } from "vitest";
import type { Answer, Question } from "../../../kernel/call/call-context.ts";
import { createClientQuestions } from "./client-questions.ts";

const question = (params: object = { message: "sure?" }): Question => ({
  method: "elicitation/create",
  params: Buffer.from(JSON.stringify(params)),
});
const result = (text: string): Answer => ({ kind: "result", result: Buffer.from(text) });
const unanswerable = (message: string) => expect.objectContaining({ code: "CLIENT_CANNOT_ANSWER", message });
const never = new AbortController().signal;
const nowhere = (): boolean => false;

/** Questions of which all that is sent is kept: on the request, or pushed. */
function create() {
  const sent: { way: string; message: { id?: string; method: string; params: Record<string, unknown> } }[] = [];
  const by = (way: string) => (message: string) => {
    sent.push({ way, message: JSON.parse(message) as (typeof sent)[number]["message"] });
    return true;
  };
  return {
    questions: createClientQuestions({ push: by("pushed"), isPushOpen: () => true }),
    deliver: by("on the request"),
    sent,
  };
}

test("each answer reaches the question that it is for", async () => {
  const { questions, deliver, sent } = create();
  const asked = [questions.ask(question(), deliver, never), questions.ask(question(), deliver, never)];
  expect(sent.map(({ message }) => message.id)).toEqual(["toolyard-1", "toolyard-2"]);
  expect(sent[0]?.message).toMatchObject({ method: "elicitation/create", params: { message: "sure?" } });
  expect(questions.answer("toolyard-2", result("no"))).toBe(true);
  expect(questions.answer("toolyard-1", result("yes"))).toBe(true);
  expect(await Promise.all(asked)).toEqual([result("yes"), result("no")]);
});

test("an answer to no question, or a second one, is not taken", async () => {
  const { questions, deliver } = create();
  const asked = questions.ask(question(), deliver, never);
  expect(questions.answer("toolyard-9", result("?"))).toBe(false);
  questions.answer("toolyard-1", result("yes"));
  expect(questions.answer("toolyard-1", result("no"))).toBe(false);
  expect(await asked).toEqual(result("yes"));
});

test("what the request cannot carry is pushed", async () => {
  const { questions, sent } = create();
  const asked = questions.ask(question(), nowhere, never);
  expect(sent.map(({ way }) => way)).toEqual(["pushed"]);
  questions.answer("toolyard-1", result("{}"));
  await asked;
});

test("with no way to the client nothing is asked, and nothing waits", async () => {
  const questions = createClientQuestions({ push: nowhere, isPushOpen: () => false });
  await expect(questions.ask(question(), nowhere, never)).rejects.toEqual(
    unanswerable("elicitation/create cannot reach the client: it has no event stream open"),
  );
  expect(questions.answer("toolyard-1", result("{}"))).toBe(false);
});

test("when the call ends, the client is told that its answer is not needed, and a late answer is not taken", async () => {
  const { questions, deliver, sent } = create();
  const call = new AbortController();
  const asked = questions.ask(question(), deliver, call.signal);
  call.abort(new Error("the call ended"));
  await expect(asked).rejects.toThrow("the call ended");
  expect(sent.at(-1)).toMatchObject({
    way: "on the request",
    message: { method: "notifications/cancelled", params: { requestId: "toolyard-1" } },
  });
  expect(questions.answer("toolyard-1", result("late"))).toBe(false);
});

test("progress reaches the question by its token, which is ours and not the server's", async () => {
  const { questions, deliver, sent } = create();
  const heard: unknown[] = [];
  const params = { message: "sure?", _meta: { progressToken: "the server's" } };
  const asked = questions.ask({ ...question(params), onProgress: (one) => heard.push(one) }, deliver, never);
  expect(sent[0]?.message.params).toEqual({ message: "sure?", _meta: { progressToken: "toolyard-1" } });
  questions.progress({ progressToken: "toolyard-1", progress: 1 });
  questions.progress({ progressToken: "the server's", progress: 2 });
  questions.progress({ progress: 3 });
  expect(heard).toEqual([{ progress: 1 }]);
  questions.answer("toolyard-1", result("{}"));
  await asked;
});

test("a bounded number of questions waits for one client", async () => {
  const { questions, deliver } = create();
  const asked = Array.from({ length: 64 }, async () => await questions.ask(question(), deliver, never));
  await expect(questions.ask(question(), deliver, never)).rejects.toEqual(
    unanswerable("64 questions wait for this client already"),
  );
  questions.answer("toolyard-1", result("{}"));
  await asked[0];
  void questions.ask(question(), deliver, never);
  expect(questions.answer("toolyard-65", result("{}"))).toBe(true);
});

test("once closed nothing more is asked", async () => {
  const { questions, deliver, sent } = create();
  questions.close();
  await expect(questions.ask(question(), deliver, never)).rejects.toEqual(
    unanswerable("the client's session has ended"),
  );
  expect(sent).toEqual([]);
});

test("a client that left and does not come back has cancelled; one that comes back in time is still asked", async () => {
  let isHere = false;
  let looks = 0;
  const questions = createClientQuestions({ push: nowhere, isPushOpen: () => false, awayMs: 50 });
  const sent: string[] = [];
  const deliver = (message: string): boolean => sent.push(message) > 0;
  expect(await questions.ask(question(), deliver, never, () => isHere)).toEqual(result('{"action":"cancel"}'));
  expect(sent.at(-1)).toContain("notifications/cancelled");
  expect(questions.answer("toolyard-1", result("late"))).toBe(false);
  const roots = { ...question({}), method: "roots/list" as const };
  expect(await questions.ask(roots, deliver, never, () => isHere)).toMatchObject({ kind: "error" });
  const asked = questions.ask(question(), deliver, never, () => {
    looks += 1;
    isHere = looks > 5;
    return isHere;
  });
  await vi.waitFor(() => expect(looks).toBeGreaterThan(20));
  questions.answer("toolyard-3", result("yes"));
  expect(await asked).toEqual(result("yes"));
});
