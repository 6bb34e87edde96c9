import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isBatch, MessageError, readClientMessage, requireJson, type ClientRequest } from "./client-message.ts";

const maxDepth = 64;

function read(text: string | Buffer): ReturnType<typeof readClientMessage> {
  return readClientMessage(Buffer.from(text as string), maxDepth);
}

function refusal(text: string | Buffer): { code: string; id: string } {
  try {
    read(text);
  } catch (error) {
    if (error instanceof GatewayError)
      return { code: error.code, id: error instanceof MessageError ? error.idText : "none" };
    throw error;
  }
  return { code: "taken", id: "none" };
}

describe("what is no message", () => {
  test.each([
    ["", "PARSE_ERROR"],
    ["   ", "PARSE_ERROR"],
    ["{", "PARSE_ERROR"],
    ['{"jsonrpc":"2.0"', "PARSE_ERROR"],
    ['{"jsonrpc":"2.0",}', "PARSE_ERROR"],
    ['{"jsonrpc":"2.0"}}', "PARSE_ERROR"],
    ["nul", "PARSE_ERROR"],
    ['\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', "PARSE_ERROR"],
    ['{"jsonrpc":"2.0","id":1,"method":"a\0b"}', "PARSE_ERROR"],
    ["1", "REQUEST_INVALID"],
    [" null ", "REQUEST_INVALID"],
    ['"x"', "REQUEST_INVALID"],
    ["true\n", "REQUEST_INVALID"],
    ["{}", "REQUEST_INVALID"],
    [" { } ", "REQUEST_INVALID"],
    ['{"id":1,"method":"ping"}', "REQUEST_INVALID"],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', "REQUEST_INVALID"],
    ['{"jsonrpc":"2.0","id":1}', "REQUEST_INVALID"],
  ])("%j: %s", (text, code) => expect(refusal(text).code).toBe(code));

  test("bytes that are not UTF-8 are refused", () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]]) {
      const text = Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
        Buffer.from(bytes),
        Buffer.from('"}'),
      ]);
      expect(refusal(text).code).toBe("PARSE_ERROR");
    }
  });

  test("64 levels are taken, 65 and a million are not", () => {
    const nested = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`;
    expect(refusal(nested(64)).code).toBe("taken");
    for (const levels of [65, 5_000, 1_000_000]) expect(refusal(nested(levels)).code).toBe("BODY_TOO_DEEP");
  });
});

describe("ids", () => {
  const refused = ["null", "1.5", "true", "{}", '{"a":1}', "[1]", "1e400"];
  test.each(refused)("%s is none", (id) =>
    expect(refusal(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toEqual({ code: "REQUEST_INVALID", id: "null" }),
  );

  const echoed = [
    "0",
    "-0",
    "9007199254740993",
    "1e3",
    "1.0",
    '""',
    '"a"',
    '"\\u0061\\n"',
    '"ä🙂"',
    '"\\ud800"',
    `"${"x".repeat(10_240)}"`,
  ];
  test.each(echoed)("%.30s is kept as it was written", (id) => {
    const message = read(`{"jsonrpc":"2.0", "id" : ${id} ,"method":"ping"}`) as ClientRequest;
    expect(Buffer.from(message.idText, "latin1").toString("utf8")).toBe(id);
  });

  test("of two ids the last counts, in its value and in its bytes", () => {
    expect(read('{"jsonrpc":"2.0","id":1,"method":"ping","\\u0069d":"two"}')).toMatchObject({
      id: "two",
      idText: '"two"',
    });
  });

  test("a refusal that comes later still names the request", () => {
    expect(refusal('{"jsonrpc":"2.0","id":7,"method":5}')).toEqual({ code: "REQUEST_INVALID", id: "7" });
    expect(refusal('{"jsonrpc":"2.0","id":"a","method":""}')).toEqual({ code: "REQUEST_INVALID", id: '"a"' });
    expect(refusal('{"jsonrpc":"2.0","id":8,"method":"m","params":[1]}')).toEqual({ code: "PARAMS_INVALID", id: "8" });
    expect(refusal('{"jsonrpc":"2.0","id":9,"method":"m","params":"x"}')).toEqual({ code: "PARAMS_INVALID", id: "9" });
  });
});

test("requests, notifications and responses are told apart", () => {
  expect(read('{"jsonrpc":"2.0","id":1,"method":"m"}').kind).toBe("request");
  expect(read('{"jsonrpc":"2.0","method":"m"}').kind).toBe("notification");
  const result = read('{"jsonrpc":"2.0","id":"q","result":{"n":9007199254740993}}');
  expect(result).toMatchObject({ kind: "response", id: "q", body: { kind: "result" } });
  expect(result.kind === "response" && result.body.bytes.toString()).toBe('{"n":9007199254740993}');
  expect(read('{"jsonrpc":"2.0","id":"q","error":{"code":1,"message":"m"}}')).toMatchObject({
    body: { kind: "error" },
  });
});

test("what is null is not there", () => {
  for (const params of ["null", "[]", "[ ]"]) {
    const request = read(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`);
    expect(request).toMatchObject({ kind: "request", params: {} });
    expect((request as ClientRequest).paramBytes("a")).toBeUndefined();
  }
  expect(read('{"jsonrpc":"2.0","id":null,"method":"notifications/x","params":null}')).toEqual({
    kind: "notification",
    method: "notifications/x",
    params: {},
  });
  const answered = (members: string): unknown => read(`{"jsonrpc":"2.0","id":1,${members}}`);
  expect(answered('"result":null,"error":{"code":1,"message":"m"}')).toMatchObject({ body: { kind: "error" } });
  expect(answered('"error":null,"result":{}')).toMatchObject({ body: { kind: "result" } });
  expect(answered('"result":null')).toMatchObject({ body: { kind: "result" } });
});

test("hostile keys are plain data", () => {
  const message = read(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}},"__proto__":{"method":"other"}}',
  ) as ClientRequest;
  expect(message.method).toBe("m");
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
  expect(message.paramBytes("__proto__")?.toString()).toBe('{"admin":true}');
  expect(message.paramBytes("toString")).toBeUndefined();
});

test("FAULT 16: another spelling of a member that decides is refused, because some servers take it for that one", () => {
  for (const key of [
    "Name",
    "NAME",
    "Arguments",
    "argument\u017F",
    "ARGUMENT\u017F",
    "URI",
    "RequestState",
    "inputresponses",
    "_META",
  ])
    expect(() => read(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","${key}":{}}}`)).toThrow(
      expect.objectContaining({ code: "PARAMS_INVALID", idText: "1" }),
    );
  for (const key of ["requestState", "inputResponses", "names", " name", "toString", "Cursor"])
    expect(read(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","${key}":{}}}`).kind).toBe(
      "request",
    );
  // What a vendor's own method means is between client and server.
  expect(read(`{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"Name":{}}}`).kind).toBe("request");
});

test("members of params are the client's bytes, the last of duplicates, in line with what was parsed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("name", "arguments", "n\\u0061me"), fc.jsonValue({ maxDepth: 3 })), {
        minLength: 1,
        maxLength: 6,
      }),
      (pairs) => {
        const text = pairs.map(([key, value]) => `"${key}" : ${JSON.stringify(value)}`).join(" , ");
        const message = read(`{"jsonrpc":"2.0","id":1,"method":"m","params":{ ${text} }}`) as ClientRequest;
        for (const key of ["name", "arguments"]) {
          const bytes = message.paramBytes(key);
          expect(bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"))).toEqual(message.params[key]);
        }
      },
    ),
  );
});

test("whatever bytes come, they are a message or refused", () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((part) => Buffer.from(part));
  fc.assert(
    fc.property(fc.oneof(bytes, fc.json()), (text) => {
      expect(refusal(text).code).toMatch(/^(PARSE_ERROR|REQUEST_INVALID|PARAMS_INVALID|BODY_TOO_DEEP)$/);
    }),
  );
});

test("a batch is known by its first bracket", () => {
  expect(isBatch(Buffer.from(" \r\n\t["))).toBe(true);
  expect(isBatch(Buffer.from("{"))).toBe(false);
  expect(isBatch(Buffer.from(""))).toBe(false);
});

test.each(["[", "{", "[1,", '[{"a":"b]', "[}", "[1]]", "", "\xff"])("%j is no whole JSON text", (text) => {
  const bytes = Buffer.from(text, "latin1");
  expect(() => requireJson(bytes, maxDepth)).toThrow(expect.objectContaining({ code: "PARSE_ERROR" }));
});

test("a whole JSON text is one whatever it says, within the limit of depth", () => {
  for (const text of ["[]", ' [1,{"a":"]"}] ', "{}", "null"]) requireJson(Buffer.from(text), maxDepth);
  const deep = Buffer.from(`${"[".repeat(65)}${"]".repeat(65)}`);
  expect(() => requireJson(deep, maxDepth)).toThrow(expect.objectContaining({ code: "BODY_TOO_DEEP" }));
});
