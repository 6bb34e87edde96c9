import { expect, test } from "vitest";

import { toWords } from "./words.ts";

test("camelCase, acronyms, snake and kebab case are split", () => {
  expect(toWords("getHTTPServerStatus create_pull-request v2Api")).toEqual([
    "get",
    "http",
    "server",
    "status",
    "create",
    "pull",
    "request",
    "v2",
    "api",
  ]);
});

test("accents, compatibility forms and case make no difference", () => {
  expect(toWords("Café ＣＡＦÉ ﬁle")).toEqual(["cafe", "cafe", "file"]);
  expect(toWords("naïveÜber")).toEqual(["naive", "uber"]);
});

test("scripts without spaces become character bigrams", () => {
  expect(toWords("查询天气 now")).toEqual(["查询", "询天", "天气", "now"]);
  expect(toWords("AI翻訳")).toEqual(["ai", "翻訳"]);
});

test("text that is no words is no words", () => {
  expect(toWords("  \u0000\u001b[31m *?+()[]{}|^$\\ 🙂 ")).toEqual(["31m"]);
  expect(toWords("")).toEqual([]);
  expect(toWords("\ud800")).toEqual([]);
});

test("an endless word is cut", () => {
  expect(toWords("a".repeat(10_000))).toEqual(["a".repeat(48)]);
});
