import { describe, expect, test } from "vitest";
import { createLateTextSearch } from "../../../wire/json/text-search.ts";
import { checkResult } from "./result-check.ts";

const limits = { resultBytes: 1_000_000, contentBlocks: 5, depth: 100, textSearch: createLateTextSearch() };
const check = async (text: string, mustParse = false) =>
  await checkResult({ what: "s:t", method: "tools/call" }, Buffer.from(text), limits, mustParse);
const checkOther = async (text: string | Buffer) =>
  await checkResult({ what: "x://a", method: "x/y" }, Buffer.from(text), limits);
const textsOf = (...texts: readonly string[]) => texts.map((text) => ({ type: "text", text }));
/** Makes a result larger than those that are parsed. Scanning it must find the same faults. */
const padding = `"pad":"${"x".repeat(70_000)}"`;
/** Makes one that is mended in a thread where it is odd. */
const manyParts = `"pad":[${Array.from({ length: 12_000 }, (_, at) => `{"k${at}":"x"}`).join(",")}]`;

describe.each([
  ["small", (members: string) => `{${members}}`],
  ["large", (members: string) => `{${members}${members === "" ? "" : ","}${padding}}`],
  ["very large", (members: string) => `{${members}${members === "" ? "" : ","}${manyParts}}`],
])("a %s result", (size, write) => {
  test("of the right shape passes as the bytes that it is", async () => {
    const text = write(
      '"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png","more":null}],"structuredContent":{"n":9007199254740993},"isError":true,"x":1',
    );
    expect((await check(text)).bytes.toString()).toBe(text);
    expect((await check(text)).known === undefined).toBe(size !== "small");
  });

  test.each([
    ['"content":{}', textsOf("{}")],
    ['"content":"x"', textsOf("x")],
    ['"content":null,"structuredContent":{"n":9007199254740993}', [{ type: "text", text: '{"n":9007199254740993}' }]],
    ['"structuredContent":{"a":1}', [{ type: "text", text: '{"a":1}' }]],
    ['"content":[],"structuredContent":{"a":1}', [{ type: "text", text: '{"a":1}' }]],
    ['"content":[null]', [{ type: "text", text: "null" }]],
    ['"content":["x",{"type":"hologram","n":1e400}]', textsOf("x", '{"type":"hologram","n":1e400}')],
    ['"content":[{"type":"text","text":9007199254740993}]', textsOf("9007199254740993")],
    ['"content":[{"type":"text","text":"x","annotations":null,"_meta":null}]', textsOf("x")],
    [`"content":[{"type":"image","data":"${"aGk=".repeat(1)}"}]`, textsOf('{"type":"image","data":"4 characters"}')],
  ])("FAULT 41: with %s is mended, and says so", async (members, content) => {
    const result = await check(write(members));
    expect(JSON.parse(result.bytes.toString())).toMatchObject({ content });
    expect(result.parsed()).toMatchObject({ content });
    expect(result.verdict?.oddity).toMatch(/^content/);
  });

  test.each(['"isError":null', '"isError":"no"', '"structuredContent":null', '"_meta":null', '"_meta":7'])(
    "FAULT 41: with %s beside its content is the same without it, and every other byte stays",
    async (member) => {
      const rest = '"content" : [{"type":"text","text":"\\u00e4"}],"big":9007199254740993';
      expect((await check(write(`${rest},${member}`))).bytes.toString()).toBe(write(rest));
    },
  );

  test("a failure that is told by a text or a number is a failure", async () => {
    for (const value of ['"true"', "1"])
      expect((await check(write(`"content":[],"isError":${value}`))).isError).toBe(true);
  });

  test("of a modern server may have any value, and says which revision can hold it", async () => {
    for (const value of ["null", "[1]", "7"]) {
      const text = write(`"resultType":"complete","content":[{"type":"text","text":"x"}],"structuredContent":${value}`);
      const result = await check(text);
      expect(result.bytes.toString()).toBe(text);
      expect(result.verdict).toEqual({ needs: "2026-07-28", oddity: undefined });
    }
  });

  test("FAULT 43: with too many blocks is refused, and the limit is named", async () => {
    await expect(check(write(`"content":[${Array(6).fill('{"type":"text","text":""}').join(",")}]`))).rejects.toThrow(
      expect.objectContaining({ code: "RESULT_TOO_LARGE", message: expect.stringContaining("contentBlocks") }),
    );
  });

  test("that asks for input, or is a task, needs no content", async () => {
    for (const members of ['"resultType":"input_required","inputRequests":{}', '"task":{"taskId":"1"}']) {
      const checked = check(write(members));
      if (size === "very large") await expect(checked).rejects.toThrow("is a question or a task of 16");
      else expect((await checked).bytes).toBeDefined();
    }
  });

  test("FAULTS 48, 49: that concerns the gateway itself is parsed, whatever its size", async () => {
    if (size === "very large") return;
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
  test.each(["[]", '"x"', "null", "{broken"])("FAULT 41: %s is refused", async (text) => {
    await expect(check(text)).rejects.toThrow(expect.objectContaining({ code: "UPSTREAM_PROTOCOL" }));
  });

  test("FAULT 43: beyond the limit of bytes is refused before it is looked at", () => {
    const large = Buffer.alloc(limits.resultBytes + 1, 0x20);
    for (const refuse of [true, false].map(
      (must) => () => checkResult({ what: "s:t", method: "tools/call" }, large, limits, must),
    ))
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

describe("a large image", () => {
  const data = Buffer.alloc(540_001, 7).toString("base64");
  const imageOf = (given: string): string => `{"content":[{"type":"image","mimeType":"image/png","data":"${given}"}]}`;

  test("passes without being parsed", async () => {
    const result = await check(imageOf(data));
    expect([result.bytes.toString() === imageOf(data), result.known, result.verdict]).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["base64url", (good: string) => good.replaceAll("BwcH", "B-_H"), "image"],
    ["what is no base64 in the middle", (good: string) => `${good.slice(0, 400_000)}!${good.slice(400_001)}`, "text"],
    ["padding in the middle", (good: string) => `${good.slice(0, 400_000)}=${good.slice(400_001)}`, "text"],
    ["a data: URL", (good: string) => `data:image/png;base64,${good}`, "image"],
    ["slashes that are escaped", (good: string) => good.replaceAll("BwcH", "\\/wcH"), "image"],
    ["no padding", (good: string) => good.replaceAll("=", ""), "image"],
  ])("with %s is read as base64, or is text", async (_what, change, type) => {
    const { content } = (await check(imageOf(change(data)))).parsed() as { content: { type: string; data?: string }[] };
    expect(content).toHaveLength(1);
    expect(content[0]?.type).toBe(type);
    if (type === "image") expect(() => atob(content[0]?.data ?? "!")).not.toThrow();
  });

  test("beside text blocks with annotations that are null is mended with them", async () => {
    const text = imageOf(data).replace(
      "[",
      '[{"type":"text","text":"a","annotations":null},{"type":"text","text":"b"},',
    );
    const result = await check(text);
    expect(result.bytes.toString()).toBe(text.replace(',"annotations":null', ""));
    expect(result.verdict?.oddity).toBe("content[0].annotations is null");
  });
});

test("of many large odd results at once, those that may wait are mended, and the others refused", async () => {
  const ends = await Promise.allSettled(
    Array.from({ length: 14 }, async () => await check(`{"content":"x",${manyParts}}`)),
  );
  expect(ends.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(9);
  const refused = ends.find((end) => end.status === "rejected");
  expect(refused?.reason).toMatchObject({
    code: "UPSTREAM_PROTOCOL",
    message: expect.stringContaining("8 other large results wait"),
  });
  expect((await check(`{"content":"x",${manyParts}}`)).parsed()).toMatchObject({ content: textsOf("x") });
});

test("FAULT 43: one that takes too much memory to be mended is refused, and costs nothing else any", async () => {
  const wide = { ...limits, resultBytes: 16_777_216 };
  const text = `{"content":[],"structuredContent":{"a":[${"{},".repeat(4_000_000)}{}]}}`;
  const result = checkResult({ what: "s:t", method: "tools/call" }, Buffer.from(text), wide);
  await expect(result).rejects.toMatchObject({
    code: "UPSTREAM_PROTOCOL",
    message: expect.stringContaining("has too many parts to be mended") as unknown,
  });
});
