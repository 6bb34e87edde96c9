import { describe, expect, test } from "vitest";
import { readEach, readInbound } from "./server-message.ts";

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
    for (const text of ['{"jsonrpc":"2.0","id":3}', '{"id":3,"error":null}', '{"jsonrpc":"2.0","id":3,"nothing":true}'])
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

const bodyOf = (text: string): string | undefined => {
  const message = read(text);
  return message.kind === "error" ? message.error.toString() : undefined;
};

describe("members of an answer that are empty", () => {
  test.each([
    '{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":-1,"message":"m"}}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"},"result":{}}',
    '{"error":{"code":-1,"message":"m"},"result":[],"id":7}',
    '{"jsonrpc":"2.0","id":7,"method":null,"params":null,"result":"","error":{"code":-1,"message":"m"}}',
  ])("a result that is nothing beside an error is none: %s", (text) => {
    expect(read(text)).toMatchObject({ kind: "error", id: 7 });
    expect(bodyOf(text)).toBe('{"code":-1,"message":"m"}');
  });

  test.each(["null", '""', "{}", "[]", "false", "{ }"])("an error %s beside a result is none", (error) => {
    for (const result of ['{"content":[]}', "{}"])
      expect(read(`{"jsonrpc":"2.0","id":7,"result":${result},"error":${error}}`)).toMatchObject({
        kind: "result",
        result: Buffer.from(result),
      });
  });

  test("a result that holds something counts beside whatever error", () => {
    expect(read('{"id":7,"result":{"content":[]},"error":{"code":0,"message":""}}').kind).toBe("result");
  });

  test("an error is delivered whatever value it is, but for null", () => {
    for (const error of ['"failed"', "[1]", "5", "true", '{"text":"failed"}', "{}"])
      expect(bodyOf(`{"jsonrpc":"2.0","id":7,"error":${error}}`)).toBe(error);
    expect(read('{"jsonrpc":"2.0","id":7,"result":null,"error":null}').kind).toBe("result");
  });

  test("an error without an id is one of a server that could not read it", () => {
    expect(read('{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}')).toMatchObject({ kind: "error", id: null });
    expect(read('{"error":"failed"}').kind).toBe("invalid");
  });
});

describe("params that are empty", () => {
  test.each(["null", "[]", '""', "{}"])("%s are none", (params) => {
    expect(read(`{"method":"notifications/n","params":${params}}`)).toEqual({
      kind: "notification",
      method: "notifications/n",
      params: {},
    });
    expect(read(`{"method":"ping","id":1,"params":${params}}`)).toMatchObject({
      kind: "request",
      params: Buffer.from("{}"),
    });
  });

  test("members of a notification that are null are left out, except for data", () => {
    const params = '{"level":"info","logger":null,"_meta":null,"data":null}';
    expect(read(`{"jsonrpc":"2.0","id":null,"method":"notifications/message","params":${params}}`)).toEqual({
      kind: "notification",
      method: "notifications/message",
      params: { level: "info", data: null },
    });
  });

  test("a request with the id null stays a request, which nobody can answer", () => {
    expect(read('{"id":null,"method":"ping"}')).toMatchObject({ kind: "request", id: null });
  });
});

test.each([
  '{"level":30,"id":3,"msg":"job fetched"}',
  '{"id":3}',
  '{"id":3,"nothing":true}',
  '{"level":50,"id":3,"error":"it failed"}',
  '{"level":30,"id":3,"result":{"rows":4}}',
  '{"level":30,"id":3,"method":"GET","url":"/"}',
])("a line of a log spoils no request, whatever its id: %s", (text) => {
  expect(read(text)).toEqual({ kind: "invalid", reason: "a JSON object that is no JSON-RPC message" });
});

test("a byte order mark before a message is skipped", () => {
  expect(read('\ufeff{"jsonrpc":"2.0","id":3,"result":{}}')).toMatchObject({ kind: "result", id: 3 });
});

describe("what may be an array of messages", () => {
  const each = (text: string): string[] => {
    const kinds: string[] = [];
    readEach(Buffer.from(text), 20, ({ kind }) => void kinds.push(kind));
    return kinds;
  };

  test("each message in it is read, after white space or a byte order mark too", () => {
    const batch = '[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":3,"result":{}},7,{"level":30,"id":3}]';
    for (const before of ["", " \n", "\ufeff"])
      expect(each(before + batch)).toEqual(["notification", "result", "invalid", "invalid"]);
    expect(each('{"jsonrpc":"2.0","id":3,"result":{}}')).toEqual(["result"]);
  });

  test("an array that breaks off is told of once, and of a long one a hundred are read", () => {
    expect(each("[1,2")).toEqual(["invalid"]);
    expect(each("[]")).toEqual([]);
    expect(each(`[${Array.from({ length: 200 }, () => "1").join()}]`)).toHaveLength(100);
  });
});

test("a notification of more than a mebibyte is no message, and one below is", () => {
  const notice = (bytes: number): Buffer =>
    Buffer.from(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${"x".repeat(bytes)}"}}`);
  expect(readInbound(notice(1_000_000), 100)).toMatchObject({ kind: "notification" });
  const reason = "notifications/message has more than 1048576 bytes of params";
  expect(readInbound(notice(1_100_000), 100)).toEqual({ kind: "invalid", reason });
});
