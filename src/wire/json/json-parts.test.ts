import { expect, test } from "vitest";
import { readClientMessage, requireJson } from "../mcp/client-message.ts";
import { parseErrorObject } from "../mcp/error-object.ts";
import { readInbound } from "../mcp/server-message.ts";
import { dropDuplicateKeys } from "./duplicate-keys.ts";
import { hasManyParts } from "./json-parts.ts";

/** Four megabytes, of so many small things as fit. */
const full = (make: (at: number) => string, open: string, close: string): Buffer => {
  const parts: string[] = [];
  for (let length = 0, at = 0; length < 4_000_000; at += 1) length += parts[parts.push(make(at)) - 1]?.length ?? 0;
  return Buffer.from(`${open}${parts.join(",")}${close}`);
};

const hostile: readonly (readonly [string, Buffer])[] = [
  ["members", full((at) => `"k${at}":1`, "{", "}")],
  ["one member again and again", full(() => '"a":1', "{", "}")],
  ["empty objects", full(() => "{}", "[", "]")],
  ["objects of different members", full((at) => `{"k${at}":1}`, "[", "]")],
  ["lists in lists", full(() => "[[[[1]]]]", "[", "]")],
  ["texts", full((at) => `"${at}"`, "[", "]")],
  ["digits", full(() => "1", "[", "]")],
  ["digits of one number", Buffer.from("7".repeat(4_000_000))],
  ["digits of a fraction", Buffer.from(`0.${"7".repeat(4_000_000)}`)],
  ["digits behind much space", Buffer.from(`${" ".repeat(100_000)}-1${"0".repeat(170_000)}e5`)],
  ["an exponent of digits", Buffer.from(`[1, 1e${"7".repeat(4_000_000)}]`)],
  ["what breaks off", full((at) => `"k${at}":{}`, "{", "")],
];

test.each(hostile)(
  "FAULT 14: a message of a million small things, or of one endless number, is refused before it is parsed: %s",
  (_what, json) => {
    expect(hasManyParts(json)).toBe(true);
    const message = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"x","params":'),
      json,
      Buffer.from("}"),
    ]);
    const codes = /^(?:BODY_TOO_COMPLEX|PARSE_ERROR)$/;
    const refusal = expect.objectContaining({ code: expect.stringMatching(codes) as string });
    expect(() => readClientMessage(message, 64)).toThrowError(refusal);
    expect(() => requireJson(json, 64)).toThrowError(refusal);
    expect(parseErrorObject(json).message).toBe("the server gave no message");
    for (const text of ['"method":"notifications/x","params"', '"id":1,"method"', '"method":"x","id"']) {
      const bytes = Buffer.concat([Buffer.from(`{"jsonrpc":"2.0",${text}:`), json, Buffer.from("}")]);
      expect(readInbound(bytes, 1_000)).toMatchObject({ kind: "invalid" });
    }
  },
);

test("what people send is not: long texts, tables, many numbers", () => {
  for (const value of [
    "漢".repeat(1_300_000),
    "7".repeat(4_000_000),
    Number(`1${"0".repeat(300)}`),
    '"\\{[,'.repeat(400_000),
    Array.from({ length: 900_000 }, (_, at) => at % 10),
    Array.from({ length: 5_000 }, (_, at) => ({ id: at, name: `n${at}`, tags: ["a", "b"], note: "x".repeat(500) })),
  ]) {
    const params = { text: value };
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params }));
    expect(readClientMessage(bytes, 64)).toMatchObject({ kind: "request", params });
  }
});

test("deeper than allowed is said before that there is too much", () => {
  const deep = Buffer.from("[".repeat(200_000) + "]".repeat(200_000));
  expect(() => requireJson(deep, 64)).toThrowError(expect.objectContaining({ code: "BODY_TOO_DEEP" }));
});

test("duplicates at every level are removed in one pass", () => {
  let text = `"${"x".repeat(1_000_000)}"`;
  for (let level = 0; level < 60; level += 1) text = `{"a":0,"a":${text}}`;
  const bytes = Buffer.from(text);
  expect(dropDuplicateKeys(bytes, JSON.parse(text)).toString()).toBe(text.replaceAll('"a":0,', ""));
});
