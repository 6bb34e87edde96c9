import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { textSearchModule } from "../../../scripts/build/wasm-text.mjs";
import { createLateTextSearch, createTextSearch, searchedBytes, shortEscapes, type TextSearch } from "./text-search.ts";

const search = createTextSearch() as TextSearch;

/** What is to be found, said in the plainest way. */
function firstStop(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === 0x22 || byte < 0x20) return at;
    if (byte !== 0x5c) at += 1;
    else if (shortEscapes[bytes[at + 1] ?? 0] === 1) at += 2;
    else return at;
  }
  return at;
}

test("the compiled code is what its source says", async () => {
  expect(readFileSync(new URL("./text-search-code.ts", import.meta.url), "utf8")).toBe(await textSearchModule());
});

test("finds what a plain loop finds, from wherever it begins", () => {
  const pieces = fc.constantFrom(
    "x".repeat(15),
    "x",
    '"',
    "\\",
    "\\n",
    "\\\\",
    "\\u0041",
    "\t",
    "\u007f",
    "ü",
    "’",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), fc.nat(200), (parts, seed) => {
      const bytes = Buffer.from(parts.join(""));
      const from = bytes.length === 0 ? 0 : seed % bytes.length;
      search.load(bytes);
      expect(search.find(from, bytes.length)).toBe(firstStop(bytes, from));
    }),
    { numRuns: 1_000 },
  );
});

test("finds the quote that no backslash escapes, over as many blocks as there are", () => {
  const pieces = fc.constantFrom("x".repeat(16), "x".repeat(7), "x", '"', "\\", "\\\\", '\\"', "\\".repeat(17), "ü");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (parts, block) => {
      const bytes = Buffer.from(parts.join(""));
      let wanted = 0;
      while (wanted < bytes.length && bytes[wanted] !== 0x22) wanted += bytes[wanted] === 0x5c ? 2 : 1;
      let at = 0;
      let found: number | undefined;
      while (at < bytes.length && found === undefined) {
        const part = bytes.subarray(at, at + block);
        // What another left behind it is not looked at.
        search.load(Buffer.alloc(block + 16, '"'));
        search.load(part);
        const stop = search.close(0, part.length);
        if (stop < part.length) found = at + stop;
        at += stop;
      }
      expect(found ?? at).toBe(wanted);
    }),
    { numRuns: 3_000 },
  );
});

test("looks at nothing beyond the end, although something is there", () => {
  search.load(Buffer.from(`${"x".repeat(20)}"`));
  for (let end = 0; end <= 20; end += 1) expect(search.find(0, end)).toBe(end);
});

test("takes as many bytes at once as it says", () => {
  search.load(Buffer.alloc(searchedBytes, "x"));
  expect(search.find(0, searchedBytes)).toBe(searchedBytes);
});

test("what was loaded last is there, and nothing else", () => {
  const first = search.load(Buffer.from("one"));
  expect(search.holds(first)).toBe(true);
  const second = search.load(Buffer.from("two"));
  expect([search.holds(first), search.holds(second)]).toEqual([false, true]);
});

test("without WebAssembly there is none, and one that is made late is made once", () => {
  vi.stubGlobal("WebAssembly", undefined);
  try {
    expect(createTextSearch()).toBeUndefined();
  } finally {
    vi.unstubAllGlobals();
  }
  const late = createLateTextSearch();
  expect(late()).toBe(late());
});
