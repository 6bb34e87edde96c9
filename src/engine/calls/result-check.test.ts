import { describe, expect, test } from "vitest";
import { createLateTextSearch } from "../../wire/json/text-search.ts";
import { checkResult, checkToolResult } from "./result-check.ts";

const limits = { resultBytes: 1_000_000, contentBlocks: 5, depth: 100, textSearch: createLateTextSearch() };
const check = async (text: string, mustParse = false) =>
  await checkToolResult("s:t", Buffer.from(text), limits, mustParse);
const checkOther = async (text: string | Buffer) => await checkResult("x", Buffer.from(text), limits);
/** Makes a result larger than those that are parsed. Scanning it must find the same faults. */
const padding = `"pad":"${"x".repeat(70_000)}"`;

describe.each([
  ["small", (members: string) => `{${members}}`],
  ["large", (members: string) => `{${members}${members === "" ? "" : ","}${padding}}`],
])("a %s result", (size, write) => {
  test("of the right shape passes as the bytes that it is", async () => {
    const text = write(
      '"content":[{"type":"text","text":"a"},{"type":"hologram"}],"structuredContent":{"n":9007199254740993},"isError":true,"x":1',
    );
    expect((await check(text)).bytes.toString()).toBe(text);
    expect((await check(text)).known === undefined).toBe(size === "large");
  });

  test.each([
    "",
    '"content":{}',
    '"content":"x"',
    '"content":null',
    '"content":[null]',
    '"content":["x"]',
    '"content":[],"isError":"no"',
    '"content":[],"isError":null',
    '"content":[],"structuredContent":null',
  ])("FAULT 41: with %s is refused", async (members) => {
    await expect(check(write(members))).rejects.toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
  });

  test("FAULT 43: with too many blocks is refused, and the limit is named", async () => {
    await expect(check(write(`"content":[${Array(6).fill('{"type":"text","text":""}').join(",")}]`))).rejects.toThrow(
      expect.objectContaining({ code: "RESULT_TOO_LARGE", message: expect.stringContaining("contentBlocks") }),
    );
  });

  test("that asks for input, or is a task, needs no content", async () => {
    for (const members of ['"resultType":"input_required","inputRequests":{}', '"task":{"taskId":"1"}'])
      expect((await check(write(members))).bytes).toBeDefined();
  });

  test("FAULTS 48, 49: that concerns the gateway itself is parsed, whatever its size", async () => {
    for (const members of [
      '"resultType":"input_required","inputRequests":{}',
      '"result\\u0054ype":"input\\u005frequired"',
      '"task":{"taskId":"1"}',
    ]) {
      expect((await check(write(members))).known).toBeDefined();
      expect((await checkOther(write(members))).known).toBeDefined();
    }
    expect((await check(write('"resultType":"complete","content":[]'))).known === undefined).toBe(size === "large");
  });

  test.each(["NaN", '"a\tb"', '"\\x"', "01.e", "[1,2}", "1,,2", ":1", "1 2", '"unended'])(
    "FAULT 41: with %j in it is no JSON, and refused as the server's fault",
    async (value) => {
      const text = write(`"content":[],"structuredContent":${value}`);
      for (const act of [check, checkOther])
        await expect(act(text)).rejects.toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
    },
  );
});

describe("a result", () => {
  test.each([
    '{"content":[{"type":"text"}]}',
    '{"content":[{"type":"text","text":{}}]}',
    '{"content":[{"type":"image"}]}',
    '{"content":[{"type":"resource","resource":"x"}]}',
    '{"content":[{}]}',
    '{"content":[],"structuredContent":null}',
    "[]",
    '"x"',
    "null",
    "{broken",
  ])("FAULT 41: %s is refused", async (text) => {
    await expect(check(text)).rejects.toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
  });

  test("FAULT 43: beyond the limit of bytes is refused before it is looked at", () => {
    const large = Buffer.alloc(limits.resultBytes + 1, 0x20);
    for (const refuse of [() => checkToolResult("s:t", large, limits, true), () => checkResult("x", large, limits)])
      expect(refuse).toThrow(
        expect.objectContaining({ code: "RESULT_TOO_LARGE", message: expect.stringContaining("resultBytes") }),
      );
  });

  test("is parsed whatever its size when it must be", async () => {
    expect((await check(`{"content":[],${padding}}`, true)).known).toBeDefined();
  });

  test("of another method must be an object", async () => {
    expect((await checkOther('{"contents":[]}')).known).toEqual({ contents: [] });
    await expect(checkOther("[]")).rejects.toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
  });
});
