import { describe, expect, test } from "vitest";
import { findRepetition, findTexts, stringAt } from "./result-texts.ts";

/** The texts that a model reads of a result, written just as it is given here. */
function textsOf(json: string, listName: "content" | "contents" = "content"): (string | undefined)[] {
  const bytes = Buffer.from(json);
  return findTexts(bytes, listName).blocks.map(({ text }) => (text === undefined ? undefined : stringAt(bytes, text)));
}

/** How a text repeats the structured content of the same result. */
function repetitionOf(text: string, structured: string) {
  const result = Buffer.from(`{"content":[],"structuredContent":${structured}}`);
  const place = findTexts(result, "content").structured;
  if (place === undefined) throw new Error("it has no structured content");
  return findRepetition(text, result, place);
}

describe("what a model reads of a result", () => {
  test("are its texts and those of embedded resources, in order; of other blocks nothing", () => {
    const blocks = [
      { type: "text", text: "one" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "resource", resource: { uri: "a:b", text: "two" } },
      { type: "resource", resource: { uri: "a:b", blob: "AAAA" } },
      { type: "resource_link", uri: "a:c", name: "three" },
    ];
    expect(textsOf(JSON.stringify({ content: blocks }))).toEqual(["one", undefined, "two", undefined, undefined]);
  });

  test("are the contents of a resource, and not the content of a tool", () => {
    const json = '{"content":[{"text":"tool"}],"contents":[{"uri":"a:b","text":"resource"}]}';
    expect(textsOf(json, "contents")).toEqual(["resource"]);
    expect(textsOf(json)).toEqual(["tool"]);
  });

  test("is found through white space, escapes and any order of the members", () => {
    expect(textsOf(' {\n "isError" : false , "content" : [ { "text" : "a\\n\\"b\\"" , "type":"text" } ] } ')).toEqual([
      'a\n"b"',
    ]);
    expect(textsOf('{"content":[{"type":"text","text":"\\ud83d\\ude00 grün 😀"}]}')).toEqual(["😀 grün 😀"]);
    expect(textsOf(String.raw`{"c\u006fntent":[{"type":"text","te\u0078t":"escaped keys"}]}`)).toEqual([
      "escaped keys",
    ]);
  });

  test.each([
    ["a text that is a number", '{"content":[{"type":"text","text":12}]}'],
    ["a resource that is a text", '{"content":[{"type":"resource","resource":"text"}]}'],
    ["a resource whose text is a list", '{"content":[{"type":"resource","resource":{"text":["x"]}}]}'],
    ["a block that is a text", '{"content":["text"]}'],
    ["a block that is null", '{"content":[null]}'],
    ["a block that is a list", '{"content":[["text"]]}'],
  ])("is nothing of %s, which stays a block all the same", (_what, json) => {
    expect(textsOf(json)).toEqual([undefined]);
  });

  test.each(["{}", '{"content":null}', '{"content":"text"}', '{"content":{"text":"text"}}', '{"content":[]}'])(
    "is nothing where the list is none: %s",
    (json) => {
      expect(textsOf(json)).toEqual([]);
      expect(findTexts(Buffer.from(json), "content").textBytes).toBe(0);
    },
  );

  test("has at least as many bytes as it has tokens: texts and structured content, nothing else", () => {
    const text = "grün";
    const structuredContent = { a: ["b"] };
    const content = [
      { type: "text", text },
      { type: "image", data: "A".repeat(999), mimeType: "image/png" },
    ];
    const result = Buffer.from(JSON.stringify({ content, structuredContent, _meta: { x: "y".repeat(999) } }));
    const expected = Buffer.byteLength(JSON.stringify(text)) + JSON.stringify(structuredContent).length;
    expect(findTexts(result, "content").textBytes).toBe(expected);
  });

  test.each(['{"content":[{"type":"text","text":"x"}', "[]", ""])(
    "is not looked for in what is no result: %j",
    (json) => {
      expect(() => textsOf(json)).toThrow();
    },
  );
});

describe("a text repeats the structured content", () => {
  test.each([
    ["with the same bytes", '{"a":1}', '{"a":1}'],
    ["with other spaces", '{\n  "a": 1\n}\n', '{"a":1}'],
    ["with the members in another order", '{"b":[2],"a":1}', '{"a":1,"b":[2]}'],
    ["with other escapes", '{"a":"ü"}', String.raw`{"a":"\u00fc"}`],
    ["as a list", "[1, 2]", "[1,2]"],
    ["as an empty object", "{ }", "{}"],
  ])("%s", (_how, text, structured) => {
    expect(repetitionOf(text, structured)).toBe("as JSON");
  });

  test.each([
    ["a text", "plain words", '{"result":"plain words"}'],
    ["a text with escapes", "two\nlines", String.raw`{"result":"two\nlines"}`],
    ["a text that is itself JSON", '{"a":1}', String.raw`{"content":"{\"a\":1}"}`],
    ["a list", "[1, 2]", '{"result":[1,2]}'],
    ["an object", '{"a": 1}', '{"result":{"a":1}}'],
    ["an empty text", "", '{"result":""}'],
  ])("of its only member: %s", (_what, text, structured) => {
    expect(repetitionOf(text, structured)).toBe("of its only member");
  });

  test.each([
    ["one element is missing", "[1]", "[1,2]"],
    ["the order of elements is another", "[2,1]", "[1,2]"],
    ["a number is a text", '{"a":"1"}', '{"a":1}'],
    ["there is a second member", "plain words", '{"result":"plain words","more":1}'],
    ["there is something behind it", '{"a":1} and more', '{"a":1}'],
    ["it is not whole", '{"a":1', '{"a":1}'],
    ["it is a list of one", "plain words", '["plain words"]'],
    ["both are nothing", "", "{}"],
  ])("not when %s", (_what, text, structured) => {
    expect(repetitionOf(text, structured)).toBe("none");
  });

  test("beyond 4 MiB only in the same bytes, because both would have to be parsed", () => {
    const long = `"${"x".repeat(4 * 1024 * 1024)}"`;
    expect(repetitionOf(`{"a":${long}}`, `{"a":${long}}`)).toBe("as JSON");
    expect(repetitionOf(`{"a": ${long}}`, `{"a":${long}}`)).toBe("none");
    expect(repetitionOf(JSON.parse(long) as string, `{"a":${long}}`)).toBe("of its only member");
  });
});
