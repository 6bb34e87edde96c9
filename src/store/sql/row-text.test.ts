import { expect, test } from "vitest";
import { batchOf, eventOf, requestOf, usageOf } from "../../../test/harness/records.ts";
import { createWaitingBatch, rowsFromText } from "./row-text.ts";

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
      node: "two",
      serverNode: "one",
    }),
  ];
  expect(rowsFromText("request", batchOf("request", requests).text)).toEqual(requests);
  expect(rowsFromText("event", batchOf("event", [eventOf(ids)]).text)).toMatchObject([{ id: 5, detail: "{}" }]);
  expect(rowsFromText("usage", batchOf("usage", [usageOf()]).text)).toEqual([usageOf()]);
});

test("a batch that was sent is filled anew, and has nothing of what it had", () => {
  const body = { arguments: "[]", areArgumentsCut: true, result: '"', isResultCut: false };
  const batch = createWaitingBatch("request");
  for (let id = 1; id <= 200; id += 1)
    batch.add(requestOf({ nextId: () => id }, { body, name: `files:tool-${id}` }), 3);
  expect(batch).toMatchObject({ rows: 200, characters: 600 });
  expect(batch.empty((row) => row)).toMatchObject({ count: 200, lastId: 0 });
  expect(batch).toMatchObject({ rows: 0, characters: 0 });
  const next = [requestOf({ nextId: () => 201 }), requestOf({ nextId: () => 202 }, { outcome: "tool_error" })];
  for (const row of next) batch.add(row, 0);
  const { text, count, lastId } = batch.empty((row) => row);
  expect({ count, lastId }).toEqual({ count: 2, lastId: 202 });
  expect(rowsFromText("request", text)).toEqual(next);
});

test("every text of a call passes the redactor when its batch is sent", () => {
  const batch = createWaitingBatch("request");
  const body = { arguments: "a canary", areArgumentsCut: false, result: "a canary", isResultCut: false };
  batch.add(requestOf(ids, { name: "files://canary" }), 0);
  batch.add(requestOf(ids, { name: "files://canary", outcome: "failed", code: "canary", body }), 16);
  const { text } = batch.empty((row) => ({
    ...row,
    name: "n",
    code: row.code && "c",
    body: row.body && { ...body, arguments: "", result: "" },
  }));
  expect(text).not.toContain("canary");
  expect(rowsFromText("request", text)).toMatchObject([
    { name: "n", code: null },
    { name: "n", code: "c" },
  ]);
});

test("the text of calls does not repeat the names of fields", () => {
  expect(batchOf("request", [requestOf(ids)]).text).not.toContain("principal");
});

test("the text of calls says once what many of them have in common", () => {
  const names = Array.from({ length: 40 }, (_, at) => `files:tool-${at}`);
  // In turns of few, of many, and again.
  const requests = [...Array.from({ length: 400 }, (_, at) => at % 3), ...names.keys(), ...names.keys()].map((at, id) =>
    requestOf({ nextId: () => id + 1 }, { name: names[at] ?? "", outcome: id % 50 === 7 ? "tool_error" : "ok" }),
  );
  const text = batchOf("request", requests).text;
  expect(rowsFromText("request", text)).toEqual(requests);
  expect(text.split('"files:tool-1"')).toHaveLength(2 + 1);
});
