import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../catalog/exposure/token-estimate.ts";
import { findOversized } from "./oversized.ts";

const bytesOf = (result: object): Buffer => Buffer.from(JSON.stringify(result));
const block = (text: string) => ({ type: "text", text });
const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at % 7}`).join(" ");

describe("a result is too large", () => {
  test("from the first token above the limit on, and not with exactly as many", () => {
    const text = words(400);
    const result = bytesOf({ content: [block(text)] });
    const tokens = estimateTokens(text);
    expect(findOversized(result, "content", tokens)).toBeUndefined();
    expect(findOversized(result, "content", tokens - 1)).toMatchObject({
      tokens,
      textTokens: tokens,
      structuredTokens: 0,
    });
  });

  test("not when it only has many bytes: the signs of a long line are few tokens", () => {
    const text = "-".repeat(3_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_000);
    expect(findOversized(bytesOf({ content: [block(text)] }), "content", 1_000)).toBeUndefined();
  });

  test("when many small texts are, which one after the other are not", () => {
    const content = Array.from({ length: 50 }, () => block(words(10)));
    const large = findOversized(bytesOf({ content }), "content", 300);
    expect(large?.text).toBe(Array.from({ length: 50 }, () => words(10)).join("\n"));
    expect(findOversized(bytesOf({ content: content.slice(0, 2) }), "content", 300)).toBeUndefined();
  });

  test("when its text and another structured content are together", () => {
    const structuredContent = { rows: words(200).split(" ") };
    const [text, structured] = [estimateTokens(words(200)), estimateTokens(JSON.stringify(structuredContent))];
    const result = bytesOf({ content: [block(words(200))], structuredContent });
    expect(findOversized(result, "content", text + structured)).toBeUndefined();
    expect(findOversized(result, "content", text + structured - 1)).toMatchObject({
      repetition: "none",
      textTokens: text,
      structuredTokens: structured,
      tokens: text + structured,
    });
  });

  test("when the dearer of two is, where the text repeats the structured content", () => {
    const structuredContent = { rows: words(200).split(" ") };
    const text = JSON.stringify(structuredContent, null, 2);
    const result = bytesOf({ content: [block(text)], structuredContent });
    const dearer = Math.max(estimateTokens(text), estimateTokens(JSON.stringify(structuredContent)));
    expect(findOversized(result, "content", dearer)).toBeUndefined();
    expect(findOversized(result, "content", dearer - 1)).toMatchObject({ repetition: "as JSON", tokens: dearer });
  });

  test("with a repetition in one of two texts, which counts as none: the other says something else", () => {
    const structuredContent = { rows: words(100).split(" ") };
    const content = [block(JSON.stringify(structuredContent)), block("and more")];
    const large = findOversized(bytesOf({ content, structuredContent }), "content", 100);
    expect(large?.repetition).toBe("none");
    expect(large?.tokens).toBe((large?.textTokens ?? 0) + (large?.structuredTokens ?? 0));
  });
});

describe("the text of a result that is too large", () => {
  test("has a line for each element where it is JSON on one line, and is as it was where it is none", () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, title: `issue ${id}` }));
    const large = findOversized(bytesOf({ content: [block(JSON.stringify(rows)), block(words(50))] }), "content", 100);
    const lines = large?.text.split("\n") ?? [];
    expect(lines).toHaveLength(101);
    expect(lines[100]).toBe(words(50));
    expect(JSON.parse(lines.slice(0, 100).join("\n"))).toEqual(rows);
  });

  test("is empty where only structured content is, and leaves out what is no text", () => {
    const structuredContent = { rows: words(200).split(" ") };
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    expect(findOversized(bytesOf({ content: [image], structuredContent }), "content", 100)?.text).toBe("");
  });
});

describe("a long text is judged by samples", () => {
  const tokensOf = (text: string): number =>
    findOversized(bytesOf({ content: [block(text)] }), "content", 1)?.tokens ?? 0;

  test("and comes out as when all of it is counted, within a tenth", () => {
    const even = words(60_000);
    // The first half is words, the second numbers: a sample of one place only would miss by far.
    const uneven = `${words(30_000)} ${Array.from({ length: 30_000 }, (_, at) => at * 7_919).join(",")}`;
    for (const text of [even, uneven]) {
      const share = tokensOf(text) / estimateTokens(text);
      expect(share).toBeGreaterThan(0.9);
      expect(share).toBeLessThan(1.1);
    }
  });

  test("and one just below the length is counted whole", () => {
    const text = `${"-".repeat(131_072 - 400)}${"ab ".repeat(200)}`.slice(0, 131_072);
    expect(tokensOf(text)).toBe(estimateTokens(text));
  });
});
