import { describe, expect, test } from "vitest";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { atOnce } from "../../../test/harness/at-once.ts";
import { findOversized as findInSlices, type Oversized } from "./oversized.ts";
import { readText } from "./said-text.ts";

const findOversized = (bytes: Buffer, listName: "content", maxTokens: number): Oversized | undefined =>
  atOnce(findInSlices({ bytes }, listName, maxTokens));
const textOf = (large: Oversized | undefined): string | undefined =>
  large === undefined ? undefined : readText(large.said, { at: 0, isInString: false }, large.said.bytes.length);
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
    expect(textOf(large)).toBe(Array.from({ length: 50 }, () => words(10)).join("\n"));
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
    const lines = textOf(large)?.split("\n") ?? [];
    expect(lines).toHaveLength(101);
    expect(lines[100]).toBe(words(50));
    expect(JSON.parse(lines.slice(0, 100).join("\n"))).toEqual(rows);
  });

  test("leaves out what is no text, and has structured content that no text repeats behind the texts", () => {
    const structuredContent = { rows: words(200).split(" ") };
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const large = findOversized(
      bytesOf({ content: [image, block("a"), block("")], structuredContent }),
      "content",
      100,
    );
    expect(textOf(large)?.replaceAll("\n", "")).toBe(`a${JSON.stringify(structuredContent)}`);
  });
});

describe("a long text is judged by its bytes", () => {
  const tokensOf = (text: string): number =>
    findOversized(bytesOf({ content: [block(text)] }), "content", 1)?.tokens ?? 0;

  test.each<[string, string]>([
    ["words", words(60_000)],
    ["numbers", Array.from({ length: 30_000 }, (_, at) => at * 7_919).join(",")],
    ["a log", "2026-01-01T10:00:00Z INFO request 12345 took 33 ms\n".repeat(5_000)],
    [
      "JSON",
      JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ id, title: `issue number ${id}`, open: true }))),
    ],
    ["code", 'if (value === undefined) return { kind: "none", at: start + 1 };\n'.repeat(3_000)],
    ["Cyrillic", "Привет мир, как дела сегодня? ".repeat(5_000)],
    ["Han", "今天天气很好，我们去公园散步。".repeat(5_000)],
    ["German", "Die Straßenverkehrsordnung regelt natürlich auch größere Überschreitungen. ".repeat(3_000)],
    ["base64", Buffer.from(words(40_000)).toString("base64")],
  ])("and comes out as when all words are looked at, within a sixth: %s", (_what, text) => {
    const share = tokensOf(text) / estimateTokens(text);
    expect(share).toBeGreaterThan(5 / 6);
    expect(share).toBeLessThan(7 / 6);
  });

  test("however its characters are written: as escapes they cost as much", () => {
    const text = 'Grüße, 漢字 and 😀 "quoted"\n'.repeat(8_000);
    const escapes = asciiJson(text);
    const result = Buffer.from(`{"content":[{"type":"text","text":${escapes}}]}`);
    const share = (findOversized(result, "content", 1)?.tokens ?? 0) / tokensOf(text);
    expect(share).toBeGreaterThan(0.9);
    expect(share).toBeLessThan(1.1);
  });
});
