import { describe, expect, test } from "vitest";
import { plainText, shorten } from "./plain-text.ts";

test.each([
  ["an escape", "\u001b"],
  ["a bell", "\u0007"],
  ["a line break", "\n"],
  ["a carriage return", "\r"],
  ["delete", "\u007f"],
  ["an 8-bit control sequence", "\u009b"],
  ["a zero-width space", "\u200b"],
  ["a right-to-left mark", "\u200f"],
  ["a right-to-left override", "\u202e"],
  ["an isolate", "\u2066"],
])("%s becomes a space", (_what, character) => expect(plainText(`a${character}b`)).toBe("a b"));

test("letters of any language stay as they are", () => {
  const text = "Größe, 名前, 🎉, שלום";
  expect(plainText(text)).toBe(text);
});

describe("a shortened text", () => {
  test("is whole up to the limit, and one character beyond it has an ellipsis", () => {
    expect(shorten("abcdef", 6)).toBe("abcdef");
    expect(shorten("abcdefg", 6)).toBe("abcde…");
  });

  test("has no space before its ellipsis", () => {
    expect(shorten("one two three", 9)).toBe("one two…");
  });

  test("never ends in half a character", () => {
    expect(shorten("ab🎉cdef", 4)).toBe("ab…");
    expect(shorten("ab🎉cdef", 5)).toBe("ab🎉…");
  });
});
