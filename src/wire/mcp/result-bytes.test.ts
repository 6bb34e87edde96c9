import { expect, test } from "vitest";
import { ResultBytes } from "./result-bytes.ts";

test("what was parsed belongs to the bytes: with others nothing is known, with the same it stays", () => {
  const bytes = Buffer.from('{"content":[],"isError":true}');
  const result = new ResultBytes(bytes, { content: [], isError: true });
  expect(result.with(bytes)).toBe(result);
  const changed = result.with(Buffer.from('{"content":[1]}'));
  expect(changed.known).toBeUndefined();
  expect(changed.isError).toBe(false);
  expect(changed.parsed()).toEqual({ content: [1] });
  expect(result.parsed()).toEqual({ content: [], isError: true });
});

test("bytes are parsed when somebody asks, once, and never to learn whether the tool failed", () => {
  const result = new ResultBytes(Buffer.from('{"content":[{"isError":false}],"isError" : true}'));
  expect(result.isError).toBe(true);
  expect(result.known).toBeUndefined();
  expect(result.parsed()).toBe(result.parsed());
  expect(result.known).toEqual({ content: [{ isError: false }], isError: true });
});

test.each(["[]", "7", "{"])("%s is no result", (text) => {
  expect(() => new ResultBytes(Buffer.from(text)).parsed()).toThrow(Error);
});

test("a question is told apart from an answer", () => {
  const asked = { resultType: "input_required" };
  expect(new ResultBytes(Buffer.from(JSON.stringify(asked)), asked).isQuestion).toBe(true);
  expect(new ResultBytes(Buffer.from('{"resultType":"complete"}'), { resultType: "complete" }).isQuestion).toBe(false);
});
