import { expect, test } from "vitest";
import { scanMembers } from "../json/json-scan.ts";
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

test("whether a type is said is known from the parsed, from the bytes, or from whoever looked at them", () => {
  const says = (text: string): boolean => new ResultBytes(Buffer.from(text)).saysType;
  expect(says('{"content":[],"resultType":"complete"}')).toBe(true);
  expect(says('{"result\\u0054ype":"complete"}')).toBe(true);
  expect(says('{"content":[{"resultType":"complete"}]}')).toBe(false);
  expect(says('{"content":[{"text":"\\u00e4 resultType"}]}')).toBe(false);
  expect(new ResultBytes(Buffer.from("{}"), { resultType: "complete" }).saysType).toBe(true);
  const bytes = Buffer.from('{"resultType":"complete","isError":true}');
  const members = scanMembers(bytes, 0, bytes.length, 10);
  expect(new ResultBytes(bytes, {}, { members, elements: undefined }).saysType).toBe(false);
  const outlined = (some: typeof members) => new ResultBytes(bytes, undefined, { members: some, elements: undefined });
  expect([outlined(members).saysType, outlined(members).isError]).toEqual([true, true]);
  expect([outlined([]).saysType, outlined([]).isError]).toEqual([false, false]);
});
