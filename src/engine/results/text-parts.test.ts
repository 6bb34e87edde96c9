import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce } from "../../../test/harness/at-once.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { readText, toSaidText } from "./said-text.ts";
import { findParts } from "./text-parts.ts";

type Write = (text: string) => string;

/** The parts of texts that are the blocks of one result, each written as a JSON string. */
function partsOf(texts: string | readonly string[], maxTokens: number, write: Write = JSON.stringify): string[] {
  const written = (typeof texts === "string" ? [texts] : texts).map((text) => Buffer.from(write(text)));
  let at = 0;
  const spans = written.map(({ length }) => {
    at += length;
    return { start: at - length + 1, end: at - 1, spelling: "escaped" as const };
  });
  const said = toSaidText(Buffer.concat(written), spans);
  const { starts } = atOnce(findParts(said, maxTokens, maxTokens));
  return starts.map((start, index) => readText(said, start, starts[index + 1]?.at ?? said.bytes.length));
}

describe("the parts of a long text", () => {
  test("end behind a line where there is one", () => {
    const text = Array.from({ length: 200 }, (_, line) => `line ${line} of the report\n`).join("");
    const parts = partsOf(text, 100);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts) expect(part.endsWith("\n")).toBe(true);
    expect(parts.join("")).toBe(text);
  });

  test("end behind a word where lines are longer than a part", () => {
    const parts = partsOf("lorem ipsum dolor sit amet ".repeat(300), 50);
    for (const part of parts) expect(part.endsWith(" ")).toBe(true);
  });

  test("end behind an element of JSON on one line, and a string that looks like one is not broken", () => {
    const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `row ${id}`, note: "a, {b}, [c" }));
    for (const text of [JSON.stringify(rows), JSON.stringify({ text: JSON.stringify(rows).repeat(2) })]) {
      const parts = partsOf(text, 200);
      expect(parts.length).toBeGreaterThan(10);
      expect(JSON.parse(parts.join(""))).toEqual(JSON.parse(text));
      if (text.startsWith("[")) for (const part of parts.slice(0, -1)) expect(part.endsWith("},")).toBe(true);
    }
  });

  test("of one endless word are still finite, and no character is split, however it is written", () => {
    for (const write of [JSON.stringify, asciiJson]) {
      const text = "🦆".repeat(500);
      const parts = partsOf(text, 7, write);
      expect(parts.join("")).toBe(text);
      for (const part of parts) expect(Buffer.from(part, "utf8").toString("utf8")).toBe(part);
      expect(partsOf("a".repeat(5_000), 10, write).join("")).toBe("a".repeat(5_000));
      expect(partsOf("\\".repeat(5_000), 10, write).join("")).toBe("\\".repeat(5_000));
    }
  });

  test("of signs that cost next to nothing are short enough to be sent, and together they are the text", () => {
    const text = " ".repeat(3_000_000);
    const parts = partsOf(text, 25_000);
    for (const part of parts) expect(part.length).toBeLessThan(600_000);
    expect(parts.join("").length).toBe(text.length);
  });

  test("a text that fits is one part", () => {
    expect(partsOf("short", 100)).toEqual(["short"]);
  });

  test("of many texts have a line end between them, and none for an empty one", () => {
    expect(partsOf(["one", "", "two"], 100)).toEqual(["one\ntwo"]);
    const many = Array.from({ length: 3_000 }, (_, at) => `text ${at}`);
    expect(partsOf(many, 100).join("")).toBe(many.join("\n"));
  });

  test("together they are the text, whatever it is and however it is written, and none is empty or much over its budget", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 2_000 }),
      fc.string({ unit: "binary", maxLength: 2_000 }),
      fc
        .array(fc.constantFrom("word", " ", "\n", ", ", "\\", '"', "é", "漢", "😀", "{", "A1"), { maxLength: 500 })
        .map((all) => all.join("")),
    );
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 12, max: 200 }),
        fc.constantFrom<Write>(JSON.stringify, asciiJson),
        (said, most, write) => {
          const parts = partsOf(said, most, write);
          expect(parts.join("")).toBe(said);
          for (const part of said === "" ? [] : parts) {
            expect(part).not.toBe("");
            expect(estimateTokens(part)).toBeLessThanOrEqual(Math.ceil(most * 1.25) + 2);
          }
        },
      ),
    );
  });
});
