import { expect, test } from "vitest";
import { createOpenQuestions } from "./server-questions.ts";

test("a question ends with its call, or when its server takes it back; only then it wants no answer", () => {
  const questions = createOpenQuestions("asker");
  const call = new AbortController();
  const ofCall = questions.open(1, call.signal);
  const takenBack = questions.open("two", call.signal);
  questions.withdraw("two");
  questions.withdraw("nobody's");
  expect([ofCall.aborted, takenBack.aborted]).toEqual([false, true]);
  expect(takenBack.reason).toMatchObject({ code: "CALL_CANCELLED" });
  call.abort(new Error("the client left"));
  expect(ofCall.reason).toMatchObject({ message: "the client left" });
  expect([questions.close(1), questions.close("two"), questions.close("two")]).toEqual([true, false, true]);
});
