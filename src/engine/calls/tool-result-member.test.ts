import { expect, test } from "vitest";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import { withContentOfToolResult } from "./tool-result-member.ts";

const made = (text: string): string =>
  withContentOfToolResult(Buffer.from(text), JSON.parse(text) as JsonObject).toString();

test.each([
  ['{"toolResult":"fine"}', "fine"],
  ['{"toolResult":{"n":9007199254740993, "text":"ä"},"_meta":{}} ', '{"n":9007199254740993, "text":"ä"}'],
  ['{"isError":true,"toolResult":[1]}', "[1]"],
  ['{"toolResult":0}', "0"],
])("%s says %s", (text, said) => {
  const content = [{ type: "text", text: said }];
  expect(JSON.parse(made(text))).toEqual({ ...(JSON.parse(text) as JsonObject), content });
  expect(made(text).startsWith(text.trimEnd().slice(0, -1))).toBe(true);
});

test.each(['{"toolResult":"x","content":[]}', '{"toolResult":null}', '{"structuredContent":{}}', "{}"])(
  "%s stays as it is",
  (text) => {
    expect(made(text)).toBe(text);
  },
);
