import { expect, test } from "vitest";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { joinText, toResultText } from "./result-text.ts";

const padding = "x".repeat(40_000);

test.each(["null", "[1]", "{}", '{"a":1}', '{"io.modelcontextprotocol/serverInfo":1}'])(
  "a result whose _meta is %s has one _meta, with our serverInfo",
  (meta) => {
    for (const pad of ["", padding]) {
      const bytes = Buffer.from(`{"pad":"${pad}","_meta": ${meta} ,"z":1}`);
      const parsed = JSON.parse(bytes.toString()) as { [key: string]: unknown };
      for (const known of [parsed, undefined]) {
        const text = joinText(toResultText(new ResultBytes(bytes, known), "modern", '{"name":"us"}'));
        expect(text.match(/"_meta"/g)).toHaveLength(1);
        const own = meta.startsWith("{") ? (JSON.parse(meta) as object) : {};
        expect(JSON.parse(text)).toEqual({
          resultType: "complete",
          pad,
          z: 1,
          _meta: { ...own, "io.modelcontextprotocol/serverInfo": { name: "us" } },
        });
      }
    }
  },
);

const types = ['"resultType":"complete"', '"result\\u0054ype" : "task"', '"resultType":{"a":[1]}'];

test.each(types)("to a legacy client a result does not say %s, and is otherwise what it was", (type) => {
  const others = ['"content":[{"text":"\\"resultType\\":1"}]', `"pad":"${"é".repeat(9)}"`, '"_meta":{"resultType":1}'];
  for (const pad of ["", padding])
    for (let at = 0; at <= others.length; at += 1) {
      const kept = [...others, `"large":"${pad}"`];
      const bytes = Buffer.from(`{ ${kept.toSpliced(at, 0, type).join(" , ")} }`);
      const parsed = JSON.parse(bytes.toString()) as { [key: string]: unknown };
      for (const known of [parsed, undefined]) {
        const text = joinText(toResultText(new ResultBytes(bytes, known), "legacy", '{"name":"us"}'));
        expect(JSON.parse(Buffer.from(text, "latin1").toString())).toEqual(JSON.parse(`{${kept.join(",")}}`));
      }
    }
});

test.each([
  ['{"resultType":"complete"}', "{}"],
  [' {"resultType":"complete","resultType":"complete"} ', "{}"],
  ['{"resultType":"a","x":1,"resultType":"b"}', '{"x":1}'],
  ['{"x":{"resultType":"kept"}}', '{"x":{"resultType":"kept"}}'],
  ['{"resultType":"complete","x": 1}', '{"x": 1}'],
  ['{"x": 1,"resultType":"complete"}', '{"x": 1}'],
  ['{"resultType":"complete","x":{"resultType":"kept"}}', '{"x":{"resultType":"kept"}}'],
  ['{"x":1,"resultType":"complete","resultType":"complete"}', '{"x":1}'],
  ['{"resultType":"complete","x":1,"result\\u0054ype":"complete"}', '{"x":1}'],
])("%s is %s to a legacy client", (given, told) => {
  const toText = (text: string): string => joinText(toResultText(new ResultBytes(Buffer.from(text)), "legacy", "{}"));
  expect(toText(given)).toBe(told);
  const long = (text: string): string => text.replace('"x":', `"long":"${padding}","x":`);
  expect(toText(long(given))).toBe(long(told));
});
