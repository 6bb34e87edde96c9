import { expect, test } from "vitest";
import { eventOf, requestOf, usageOf } from "../../../test/harness/records.ts";
import { rowsFromText, rowsToText } from "./row-text.ts";

const ids = { nextId: () => 5 };

test("rows come out of their text as they went in, field by field", () => {
  const body = { arguments: "[]", areArgumentsCut: true, result: '"', isResultCut: false };
  const requests = [
    requestOf(ids, { body, team: "t", code: "X", outcome: "failed", waitMs: 7, isResultCut: true }),
    requestOf(ids, {
      traceId: "ab".repeat(16),
      client: null,
      via: "rest",
      method: "prompts/get",
      principal: "p",
      instance: "i",
      server: "s",
    }),
  ];
  expect(rowsFromText("request", rowsToText("request", requests))).toEqual(requests);
  expect(rowsFromText("event", rowsToText("event", [eventOf(ids)]))).toMatchObject([{ id: 5, detail: "{}" }]);
  expect(rowsFromText("usage", rowsToText("usage", [usageOf()]))).toEqual([usageOf()]);
});

test("the text of calls does not repeat the names of fields", () => {
  expect(rowsToText("request", [requestOf(ids)])).not.toContain("principal");
});

test("the text of calls says once what many of them have in common", () => {
  const names = Array.from({ length: 40 }, (_, at) => `files:tool-${at}`);
  // In turns of few, of many, and again.
  const requests = [...Array.from({ length: 400 }, (_, at) => at % 3), ...names.keys(), ...names.keys()].map((at, id) =>
    requestOf({ nextId: () => id + 1 }, { name: names[at] ?? "", outcome: id % 50 === 7 ? "tool_error" : "ok" }),
  );
  const text = rowsToText("request", requests);
  expect(rowsFromText("request", text)).toEqual(requests);
  expect(text.split('"files:tool-1"')).toHaveLength(2 + 1);
});
