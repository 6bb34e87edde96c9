import { expect, test } from "vitest";
import type { Intent } from "../intent.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { withLossTold } from "./restart-notice.ts";

const call = { kind: "call", tool: { server: "x" } } as unknown as Intent;
const prompt = { kind: "prompt", prompt: { server: "x" } } as unknown as Intent;
const reason = "it crashed: exit code 1";
const tell = (text: string, intent = call, forModel = true): string =>
  withLossTold(new ResultBytes(Buffer.from(text, "utf8")), { reason, intent, forModel }).bytes.toString("utf8");
const notice = `x was restarted since you last used it, and what it held for you (open pages, variables, connections) is gone: ${reason}.`;
const entry = `"toolyard/restarted":${JSON.stringify(notice)}`;
const block = JSON.stringify({
  ...{ type: "text", text: `Note from Toolyard: ${notice} Set up again what you need.` },
  _meta: { "toolyard/note": true },
});

test.each([
  [
    '{"content":[{"type":"text","text":"ü ]"}]}',
    `{"_meta":{${entry}},"content":[{"type":"text","text":"ü ]"},${block}]}`,
  ],
  ['{ "content" : [ \n ] , "isError":true}', `{"_meta":{${entry}}, "content" : [ \n ${block}] , "isError":true}`],
  ['{"content":[1],"_meta":{ }}', `{"content":[1,${block}],"_meta":{${entry} }}`],
  ['{"content":[1],"_meta":{"own":1e400}}', `{"content":[1,${block}],"_meta":{${entry},"own":1e400}}`],
  ['{"content":[1],"_meta":null,"n":1}', `{"content":[1,${block}],"_meta":{${entry}},"n":1}`],
  // Where a key stands twice, clients read the last one.
  ['{"content":[1],"content":[2]}', `{"_meta":{${entry}},"content":[1],"content":[2,${block}]}`],
  ['{"task":{"taskId":"t"}}', `{"_meta":{${entry}},"task":{"taskId":"t"}}`],
  ['{"content":"odd"}', `{"_meta":{${entry}},"content":"odd"}`],
  ["{}", `{"_meta":{${entry}}}`],
])("%s: every other byte stays", (text, told) => {
  expect(tell(text)).toBe(told);
  expect(() => JSON.parse(told) as unknown).not.toThrow();
});

test("a result that no model reads, or of no tool, says it in _meta alone", () => {
  for (const told of [tell('{"content":[]}', call, false), tell('{"content":[]}', prompt)])
    expect(told).toBe(`{"_meta":{${entry}},"content":[]}`);
});

test("without a loss, and for what the gateway answers itself, it is the same object", () => {
  const result = new ResultBytes(Buffer.from("{}"));
  expect(withLossTold(result, { reason: undefined, intent: call, forModel: true })).toBe(result);
  const own: Intent = { kind: "answer", result: {} };
  expect(withLossTold(result, { reason, intent: own, forModel: true })).toBe(result);
});
