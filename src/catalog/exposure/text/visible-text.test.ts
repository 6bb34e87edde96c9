import { describe, expect, test } from "vitest";
import { escapeHidden, visibleText } from "./visible-text.ts";

describe("visibleText", () => {
  test.each([
    ["terminal colours", "\x1b[31mred\x1b[0m", "red"],
    ["a window title", "\x1b]0;owned\x07text", "text"],
    ["a hyperlink", "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"],
    ["8-bit control sequences", "\x9b2Jtext", "text"],
    ["control characters", "a\x00b\x08c\x7fd", "abcd"],
    ["bidirectional overrides", "user\u202etxt.exe\u2066", "usertxt.exe"],
    ["Unicode tags", "hello\u{e0049}\u{e0067}\u{e006e}", "hello"],
    ["zero-width characters", "pass\u200bword\ufeff\u2060", "password"],
    ["joiners between Latin letters", "a\u200db\u200cc", "abc"],
    ["runs of variation selectors", "a\ufe01\ufe02\u{e0101}b", "ab"],
    ["fillers", "a\u3164\u115fb", "ab"],
    ["half a surrogate pair", "a\ud800b", "a\ufffdb"],
  ])("FAULT 40: %s are taken out and flagged", (_, text, shown) => {
    expect(visibleText(text)).toEqual({ text: shown, flagged: true });
  });

  test.each([
    "Plain words.\n\tOver lines",
    "日本語とカナ",
    "👩‍💻 and 👍🏽 and ⚠️",
    "می‌خواهم",
    "क्‍ष",
    "naïve café",
    "🇩🇪 € → ∑",
  ])("leaves what writing needs: %s", (text) => {
    expect(visibleText(text)).toEqual({ text, flagged: false });
  });

  test("takes unfinished escapes at the end without an error", () => {
    expect(visibleText("text\x1b[").text).toBe("text");
    expect(visibleText(`\x1b]${"x".repeat(100_000)}\nnext`).text).toBe("\nnext");
  });
});

describe("escapeHidden", () => {
  test("says the same to a parser and shows what was hidden", () => {
    const json = JSON.stringify({ "na\u200bme": "a\u{e0041}b\u202e" });
    const escaped = escapeHidden(json);
    expect(escaped).toBe('{"na\\u200bme":"a\\udb40\\udc41b\\u202e"}');
    expect(JSON.parse(escaped)).toEqual(JSON.parse(json));
  });
});
