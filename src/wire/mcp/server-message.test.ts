import { describe, expect, test } from "vitest";
import { readInbound } from "./server-message.ts";

const read = (text: string, depth = 20): ReturnType<typeof readInbound> => readInbound(Buffer.from(text), depth);
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("one message of a server", () => {
  test("a result and an error stay the bytes that they were", () => {
    const result = read('{"jsonrpc":"2.0","id":7,"result":{"n":9007199254740993,"a":-0}}');
    expect(result).toMatchObject({ kind: "result", id: 7 });
    expect(result.kind === "result" && result.result.toString()).toBe('{"n":9007199254740993,"a":-0}');
    expect(read('{"id":"x","error":{"code":-1}}')).toMatchObject({ kind: "error", id: "x" });
  });

  test("ids are told apart by their type", () => {
    for (const [text, id] of [
      ["1", 1],
      ["123456789", 123_456_789],
      ["12345678901", 12_345_678_901],
      ['"1"', "1"],
      ["null", null],
      ["1.5", 1.5],
      ["-1", -1],
      ["0", 0],
    ] as const)
      expect(read(`{"id":${text},"result":{}}`)).toMatchObject({ kind: "result", id });
  });

  test("requests and notifications", () => {
    expect(read('{"method":"ping","id":1}')).toMatchObject({ kind: "request", method: "ping", id: 1 });
    expect(read('{"method":"n","params":{"a":1}}')).toEqual({ kind: "notification", method: "n", params: { a: 1 } });
    expect(read('{"method":"n"}')).toEqual({ kind: "notification", method: "n", params: {} });
  });

  test("the last of equal members counts, as for JSON.parse", () => {
    expect(read('{"id":1,"id":2,"result":{}}')).toMatchObject({ id: 2 });
  });

  test.each([
    "",
    "1",
    "null",
    '"x"',
    "[]",
    "{}",
    "{broken",
    '{"jsonrpc":"2.0"}',
    '{"method":1}',
    '{"method":"n","params":[1]}',
    '{"id":',
  ])("FAULT 69: %s is no message", (text) => {
    expect(read(text)).toMatchObject({ kind: "invalid", reason: expect.any(String) });
  });

  test("FAULT 41: an answer that is none says which request it spoils", () => {
    for (const text of ['{"id":3}', '{"id":3,"error":"failed"}', '{"id":3,"error":null}', '{"id":3,"nothing":true}'])
      expect(read(text), text).toMatchObject({ kind: "invalid", id: 3 });
    expect(
      readInbound(
        Buffer.concat([Buffer.from('{"id":3,"result":{"t":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}}')]),
        20,
      ),
    ).toMatchObject({ kind: "invalid", id: 3 });
  });

  test.each([
    '{"jsonrpc":"2.0","id":3,"result":{"content":[',
    '{"jsonrpc":"2.0","id":3,"result":DEBUG: found 4 rows',
    '{ "id" : 3 , "jsonrpc" : "2.0" , "error" : {"code"',
    '{"id":3,"result":{"content":[}',
    '{"result":{"content":[DEBUG: "quoted ]}},"jsonrpc":"2.0","id":3}',
    '{"result":{"content":[{"text":"cut},"jsonrpc":"2.0","id":3}\n',
  ])("FAULT 41: an answer that breaks off says which request it spoils: %s", (text) => {
    expect(read(text)).toMatchObject({ kind: "invalid", id: 3 });
  });

  test.each([
    '{"level":"info","id":3,"msg":"started"',
    '{"id":3,"method":"ping","params":{',
    '{"jsonrpc":"2.0","id":"3","result":{',
    '{"jsonrpc":"2.0","result":{"text":"id\\":3',
    '{"id":3,"results":{',
  ])("what breaks off and is no answer spoils none: %s", (text) => {
    expect(read(text)).toEqual({ kind: "invalid", reason: expect.any(String) });
  });

  test("what nests too deeply is marked when it is a result, and refused when it is anything else", () => {
    expect(read(`{"id":3,"result":{"d":${nested(30)}}}`)).toMatchObject({ kind: "result", id: 3, tooDeep: true });
    expect(read(`{"id":3,"error":{"data":${nested(30)}}}`)).toMatchObject({ kind: "invalid", id: 3 });
    expect(read(`{"method":"n","params":{"d":${nested(30)}}}`).kind).toBe("invalid");
    expect(read(`{"id":3,"result":{"d":${nested(100_000)}}}`)).toMatchObject({ tooDeep: true });
  });
});
