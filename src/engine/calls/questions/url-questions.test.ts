import { expect, test } from "vitest";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import { createUrlQuestions } from "./url-questions.ts";

const params = (url: string) => ({ mode: "url", message: "Please", url });
const accept = toJsonBytes({ action: "accept" });

function create() {
  const completed: unknown[] = [];
  const urls = createUrlQuestions({
    send(message) {
      const { method, params: sent } = JSON.parse(message) as { method: string; params: { elicitationId: string } };
      expect(method).toBe("notifications/elicitation/complete");
      completed.push(sent.elicitationId);
      return true;
    },
  });
  return { urls, completed };
}

test("every question by URL gets an id of its own, forms none, and one that its server made is kept", () => {
  const { urls } = create();
  const ids = [1, 2, 3].map(() => urls.identify(params("https://a.example"))["elicitationId"]);
  expect(new Set(ids).size).toBe(3);
  const form = { mode: "form", message: "Name?" };
  expect(urls.identify(form)).toBe(form);
  const own = { ...params("https://a.example"), elicitationId: "its-own" };
  expect(urls.identify(own)).toBe(own);
});

test("what was opened is done once the server asks for it no more, and is told once", () => {
  const { urls, completed } = create();
  const [one, two] = ["https://a.example", "https://b.example"].map((url) => urls.identify(params(url)));
  for (const asked of [one, two]) urls.noteAnswer(asked ?? {}, accept);
  urls.noteAsked({ key: { method: "elicitation/create", params: params("https://b.example") } });
  expect(completed).toEqual([one?.["elicitationId"]]);
  urls.noteAsked({});
  urls.noteAsked({});
  expect(completed).toEqual([one?.["elicitationId"], two?.["elicitationId"]]);
});

test.each(['{"action":"decline"}', '{"action":"cancel"}', "{}", "null", "no JSON"])(
  "after the answer %s nothing was opened",
  (answer) => {
    const { urls, completed } = create();
    urls.noteAnswer(urls.identify(params("https://a.example")), Buffer.from(answer));
    urls.noteAsked({});
    expect(completed).toEqual([]);
  },
);
