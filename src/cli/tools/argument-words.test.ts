import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { toArgumentsText } from "./argument-words.ts";

const schema: JsonObject = {
  type: "object",
  $defs: { flag: { type: "boolean" } },
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    dry: { $ref: "#/$defs/flag" },
    labels: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { type: "integer" } },
    filter: { type: "object", properties: { state: { enum: ["open", "closed", 3] }, deep: { type: "object" } } },
    either: { anyOf: [{ type: "integer" }, { type: "null" }] },
    "a.b": { type: "string" },
    loop: { $ref: "#/properties/loop" },
    anything: {},
  },
};

const files: Readonly<Record<string, string>> = { "notes.txt": 'two "lines"\n', "list.json": "[1, 2]" };

async function readFile(path: string): Promise<string> {
  return await Promise.resolve(files[path] ?? "");
}

async function textOf(...words: string[]): Promise<string> {
  return await toArgumentsText(words, schema, readFile);
}

describe("words become arguments by the tool's schema:", () => {
  test.each<[words: string[], text: string]>([
    [[], "{}"],
    [["title=7"], '{"title":"7"}'],
    [["title="], '{"title":""}'],
    [["title=a=b"], '{"title":"a=b"}'],
    [['title=grüße "x"\n'], '{"title":"grüße \\"x\\"\\n"}'],
    [["count=9007199254740993"], '{"count":9007199254740993}'],
    [["count=-0"], '{"count":-0}'],
    [["ratio=1.50e3"], '{"ratio":1.50e3}'],
    [["count=1.5"], '{"count":"1.5"}'],
    [["count=x"], '{"count":"x"}'],
    [["count=007"], '{"count":"007"}'],
    [["dry=true"], '{"dry":true}'],
    [["dry=maybe"], '{"dry":"maybe"}'],
    [["labels=a"], '{"labels":["a"]}'],
    [["labels=a", "title=t", "labels=b"], '{"labels":["a","b"],"title":"t"}'],
    [['labels=["a","b"]'], '{"labels":["a","b"]}'],
    [["ids=1", "ids=2"], '{"ids":[1,2]}'],
    [["filter.state=open", "filter.deep.x=1"], '{"filter":{"state":"open","deep":{"x":1}}}'],
    [["filter.state=3"], '{"filter":{"state":3}}'],
    [['filter={"state":"open"}'], '{"filter":{"state":"open"}}'],
    [["a.b=one"], '{"a.b":"one"}'],
    [["either=null"], '{"either":null}'],
    [["either=12"], '{"either":12}'],
    [["anything=12345678901234567890"], '{"anything":12345678901234567890}'],
    [["anything=word"], '{"anything":"word"}'],
    [["unknown=true"], '{"unknown":true}'],
    [["unknown=1", "unknown=2"], '{"unknown":[1,2]}'],
    [["loop=x"], '{"loop":"x"}'],
    [["title=@notes.txt"], '{"title":"two \\"lines\\"\\n"}'],
    [["ids=@list.json"], '{"ids":[1, 2]}'],
    [["title=@"], '{"title":"@"}'],
    [['title:="@notes.txt"'], '{"title":"@notes.txt"}'],
    [["count:=1e400", "ids:=[1]"], '{"count":1e400,"ids":[1]}'],
    [["__proto__=1", "constructor=x"], '{"__proto__":1,"constructor":"x"}'],
  ])("%j", async (words, text) => expect(await textOf(...words)).toBe(text));
});

describe("words that cannot be meant are refused, and named:", () => {
  test.each([
    [["title"], "is no argument"],
    [["=x"], "is no argument"],
    [["count:={"], "is not followed by JSON"],
    [["title=a", "title=b"], "was given already"],
    [["filter=3", "filter.state=open"], "is inside of what already has a value"],
    [["filter.state=open", "filter=3"], "was given already"],
  ])("%j", async (words, why) => {
    const last = words.at(-1) ?? "";
    await expect(textOf(...words)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `${JSON.stringify(last)} ${why}`,
    });
  });
});

test("any text and any number arrive as they were typed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.bigInt(), fc.json(), async (text, number, json) => {
      const words = [`title:=${JSON.stringify(text)}`, `count=${number}`, `anything:=${json}`];
      const made = await textOf(...words);
      expect(made).toBe(`{"title":${JSON.stringify(text)},"count":${number},"anything":${json}}`);
    }),
  );
});
