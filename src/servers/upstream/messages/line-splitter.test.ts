import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLargeBuffers } from "../../../wire/json/large-buffers.ts";
import { createLineSplitter } from "./line-splitter.ts";

function split(bytes: Buffer, cuts: readonly number[], limit = 1_000_000): { lines: string[]; tooLong: number } {
  const seen = { lines: [] as string[], tooLong: 0 };
  const push = createLineSplitter(
    limit,
    (line) => seen.lines.push(line.toString("utf8")),
    () => (seen.tooLong += 1),
  );
  let from = 0;
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((left, right) => left - right)) {
    push(bytes.subarray(from, cut));
    from = Math.max(from, cut);
  }
  push(bytes.subarray(from));
  return seen;
}

test("FAULT 71 and 72: the same lines come out however the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, ""))),
      fc.array(fc.nat({ max: 5_000 })),
      fc.boolean(),
      (texts, cuts, crlf) => {
        const bytes = Buffer.from(texts.map((text) => `${text}${crlf ? "\r\n" : "\n"}`).join(""));
        expect(split(bytes, cuts).lines).toEqual(texts.filter((text) => text !== ""));
      },
    ),
  );
});

test("FAULT 71: byte by byte", () => {
  const text = "Grüße 漢字 😀\n\r\nñ\n";
  const bytes = Buffer.from(text);
  expect(split(bytes, Array.from(bytes.keys())).lines).toEqual(["Grüße 漢字 😀", "ñ"]);
});

test("FAULT 70: a line beyond the limit is reported once, and nothing after it is read", () => {
  const bytes = Buffer.from(`short\n${"x".repeat(100)}\nafter\n`);
  expect(split(bytes, [6, 50, 70, 90], 40)).toEqual({ lines: ["short"], tooLong: 1 });
});

test("a line without its end is not a line", () => {
  expect(split(Buffer.from("whole\nhalf"), []).lines).toEqual(["whole"]);
});

test("large lines come out whole, between small ones, while the memory they came in is given back", () => {
  const sizes = [10, 300_000, 0, 65_535, 3_000_000, 1, 5_000_000, 65_536, 20_000_000, 2_097_152, 7];
  const lines = sizes.map((size, index) => String.fromCharCode(0x61 + index).repeat(size));
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const seen: string[] = [];
  const memory = createLargeBuffers();
  const push = createLineSplitter(
    32_000_000,
    (line) => seen.push(`${line[0]} ${line.length} ${line.every((byte) => byte === line[0])}`),
    () => seen.push("too long"),
    memory,
  );
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) {
    // Memory of its own, as what is read from a pipe has.
    const chunk = Buffer.allocUnsafeSlow(Math.min(65_536, bytes.length - at));
    bytes.copy(chunk, 0, at);
    chunks.push(chunk);
    push(chunk);
  }
  expect(seen).toEqual(sizes.flatMap((size, index) => (size === 0 ? [] : [`${0x61 + index} ${size} true`])));
  expect(chunks.filter((chunk) => chunk.length > 0).length).toBeLessThan(chunks.length / 4);
});
