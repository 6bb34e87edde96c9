import { expect, test } from "vitest";
import { JsonOutline } from "../../../wire/json/json-outline.ts";
import { checkJson } from "../../../wire/json/json-validity.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { joinText, toResultText } from "./result-text.ts";

const padding = "x".repeat(40_000);

/** The same result in every state in which it may come: parsed, not parsed, and only looked over. */
function allStates(bytes: Buffer): readonly ResultBytes[] {
  const parsed = JSON.parse(bytes.toString()) as { [key: string]: unknown };
  const outline = new JsonOutline(bytes, { list: "content", names: ["type"], most: 10 });
  for (const _slice of checkJson(bytes, 100, { outline }));
  return [new ResultBytes(bytes, parsed), new ResultBytes(bytes), new ResultBytes(bytes, undefined, outline)];
}

test.each(["null", "[1]", "{}", '{"a":1}', '{"io.modelcontextprotocol/serverInfo":1}'])(
  "a result whose _meta is %s has one _meta, with our serverInfo",
  (meta) => {
    for (const pad of ["", padding]) {
      const bytes = Buffer.from(`{"pad":"${pad}","_meta": ${meta} ,"z":1}`);
      for (const result of allStates(bytes)) {
        const text = joinText(toResultText(result, "modern", '{"name":"us"}'));
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
      for (const result of allStates(bytes)) {
        const text = joinText(toResultText(result, "legacy", '{"name":"us"}'));
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
  const long = (text: string): string => text.replace('"x":', `"long":"${padding}","x":`);
  for (const [from, to] of [
    [given, told],
    [long(given), long(told)],
  ] as const)
    for (const result of allStates(Buffer.from(from)).slice(1))
      expect(joinText(toResultText(result, "legacy", "{}"))).toBe(to);
});
