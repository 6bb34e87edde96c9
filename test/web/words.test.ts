import fc from "fast-check";
import { expect, test } from "vitest";
import { readEvents, type StreamEvent } from "../../web/src/api/event-text.ts";
import { hasInexactNumber, indentJson, memberText } from "../../web/src/words/exact-json.ts";
import { duration, plain } from "../../web/src/words/format.ts";
import { splitWords } from "../../web/src/words/words.ts";

test("JSON is indented without changing a value, as JSON.stringify would indent it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      expect(indentJson(text)).toBe(JSON.stringify(value, undefined, 2));
    }),
  );
});

test("numbers that JavaScript cannot hold keep their digits", () => {
  const text = '{"a":[9007199254740993,1.10,1e400],"b":"9007199254740993"}';
  expect(indentJson(text)).toContain("9007199254740993,\n    1.10,\n    1e400");
  expect(memberText(text, "a")).toBe("[9007199254740993,1.10,1e400]");
  expect(memberText(text, "c")).toBeUndefined();
  expect(memberText("[1]", "a")).toBeUndefined();
});

test("a member's text is what JSON.parse has there", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value, undefined, 1);
      for (const [name, member] of Object.entries(value)) {
        const found = memberText(text, name);
        expect(found === undefined ? undefined : JSON.parse(found)).toEqual(JSON.parse(JSON.stringify(member)));
      }
    }),
  );
});

test.each([
  ["{}", false],
  ['{"a":12.5,"b":-3}', false],
  ['{"a":9007199254740993}', true],
  ['{"a":"9007199254740993"}', false],
  ['{"a":"\\"9007199254740993"}', false],
  ['{"a":0.12345678901234567}', true],
])("whether a form would change %s: %s", (text, isInexact) => {
  expect(hasInexactNumber(text)).toBe(isInexact);
});

test.each([
  ["npx -y pkg", ["npx", "-y", "pkg"]],
  [`sh -c "echo 'a b'"`, ["sh", "-c", "echo 'a b'"]],
  [String.raw`a\ b 'c\d' ""`, ["a b", String.raw`c\d`, ""]],
  ["", []],
])("the words of %s", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test("what has no shape is marked, what people write is not", () => {
  expect(plain("a\u202eb\u001b[1m\u{E0041}\u0000")).toBe("a⟦U+202E⟧b⟦U+001B⟧[1m⟦U+E0041⟧⟦U+0000⟧");
  expect(plain("Ünïcödé 日本語 👩‍👩‍👧 line\n\ttab\r\n")).toBe("Ünïcödé 日本語 👩‍👩‍👧 line\n\ttab\n");
});

test("durations read as people say them", () => {
  expect([340, 1_500, 61_000, 8_040_000, 200 * 3_600_000].map(duration)).toEqual([
    "340 ms",
    "1.5 s",
    "1 min",
    "2 h 14 min",
    "8 d 8 h",
  ]);
});

test("a stream is read event by event, wherever its bytes are cut", async () => {
  const text = 'id: 1\nevent: a\ndata: {"x":"ü"}\n\n: keep-alive\n\nid: 2\ndata: one\ndata: two\n\n';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size < bytes.length; size += 3) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events: StreamEvent[] = [];
    await readEvents(body, (event) => events.push(event));
    expect(events).toEqual([
      { id: "1", type: "a", data: '{"x":"ü"}' },
      { id: "2", type: "message", data: "one\ntwo" },
    ]);
  }
});
