import { describe, expect, test } from "vitest";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { atOnce } from "../../../test/harness/at-once.ts";
import { findRepetition, findTexts as findInSlices, type ResultTexts } from "./result-texts.ts";

const findTexts = (bytes: Buffer, listName: "content" | "contents"): ResultTexts =>
  atOnce(findInSlices({ bytes }, listName));

/** The texts that a model reads of a result, written just as it is given here. */
function textsOf(json: string, listName: "content" | "contents" = "content"): (string | undefined)[] {
  const bytes = Buffer.from(json);
  return findTexts(bytes, listName).blocks.map(({ text }) =>
    text === undefined ? undefined : (JSON.parse(bytes.toString("utf8", text.start - 1, text.end + 1)) as string),
  );
}

/** How a text repeats the structured content of the same result. */
function repetitionOf(text: string, structured: string) {
  const result = Buffer.from(
    `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${structured}}`,
  );
  const texts = findTexts(result, "content");
  const said = texts.blocks[0]?.text;
  if (texts.structured === undefined || said === undefined) throw new Error("it has no structured content");
  return atOnce(findRepetition(result, said, texts.structured));
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

  test("also in megabytes, with other spaces and escapes; there the order of members and the spelling of numbers count", () => {
    const long = 'grün 😀 "x" '.repeat(100_000);
    const [one, other] = [
      { a: long, b: [1, { c: null }] },
      { b: [1, { c: null }], a: long },
    ];
    const escaped = asciiJson(one);
    expect(repetitionOf(JSON.stringify(one), JSON.stringify(one))).toBe("as JSON");
    expect(repetitionOf(JSON.stringify(one, null, 2), escaped)).toBe("as JSON");
    expect(repetitionOf(escaped, JSON.stringify(one))).toBe("as JSON");
    expect(repetitionOf(JSON.stringify(other), JSON.stringify(one))).toBe("none");
    expect(repetitionOf(long, JSON.stringify({ a: long }))).toBe("of its only member");
    expect(repetitionOf(`${long}.`, JSON.stringify({ a: long }))).toBe("none");
    expect(repetitionOf(JSON.stringify(one).replace("grün", "grun"), JSON.stringify(one))).toBe("none");
  });

  test("not where characters of a string look like its end", () => {
    expect(repetitionOf('{"a":"\\"}', String.raw`{"a":"\u0022}"}`)).toBe("none");
    expect(repetitionOf(String.raw`{"a":"\"b"}`, String.raw`{"a":"\u0022b"}`)).toBe("as JSON");
    expect(repetitionOf(String.raw`{"a":"\\"}`, String.raw`{"a":"\u005c"}`)).toBe("as JSON");
  });
});
