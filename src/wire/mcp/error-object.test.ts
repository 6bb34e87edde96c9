import { expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import {
  errorObjectText,
  isErrorObject,
  parseErrorObject,
  shortError,
  failureAnswer,
  failureText,
} from "./error-object.ts";
import { isLogLevel, isWanted, leastLevel } from "./log-level.ts";
import { eraOfRevision, isHopKey, negotiateLegacy } from "./revisions.ts";

const bytes = (text: string) => Buffer.from(text, "utf8");

test("an error object is valid with a whole code and a message, and with nothing less", () => {
  expect(isErrorObject(bytes('{"code":-32000,"message":"","extra":1}'))).toBe(true);
  for (const text of [
    '{"code":1.5,"message":"m"}',
    '{"code":"1","message":"m"}',
    '{"message":"m"}',
    '{"code":1}',
    '{"code":1,"message":null}',
    "[]",
    "null",
    '"text"',
    "{",
  ])
    expect([text, isErrorObject(bytes(text))]).toEqual([text, false]);
});

test("what is wrong in an error is replaced, and the rest of it kept", () => {
  expect(parseErrorObject(bytes('{"code":7,"message":"m","data":{"a":null}}'))).toEqual({
    code: 7,
    message: "m",
    data: { a: null },
  });
  expect(parseErrorObject(bytes('{"code":"7","message":"m","data":null}'))).toEqual({
    code: -32_603,
    message: "m",
    data: null,
  });
  for (const text of ["null", '""', "false", "5", "{}", "[]", "{", '{"message":null}', '{"message":"","code":null}'])
    expect([text, parseErrorObject(bytes(text))]).toEqual([
      text,
      { code: -32_603, message: "the server gave no message" },
    ]);
  expect(parseErrorObject(bytes('{"code":7}'))).toEqual({ code: 7, message: "the server gave no message" });
});

test.each([
  ['"the quota is used up"', -32_603, "the quota is used up"],
  ['["a","b"]', -32_603, '["a","b"]'],
  ['{"code":-32000,"message":{"text":"used up"}}', -32_000, '{"text":"used up"}'],
  ['{"code":1.5,"message":"used up"}', -32_603, "used up"],
  ['{"code":"QUOTA","message":"used up"}', -32_603, "used up"],
  ['{"code":"-32000","message":"used up"}', -32_603, "used up"],
  ['{"reason":"used up"}', -32_603, '{"reason":"used up"}'],
  ['{"code":-1,"message":null,"detail":"used up"}', -1, '{"detail":"used up"}'],
])("an error that is no error object still says what it says: %s", (text, code, message) => {
  expect(parseErrorObject(bytes(text))).toEqual({ code, message });
});

test("an error whose only words are its data says them in its message too", () => {
  expect(parseErrorObject(bytes('{"code":-1,"data":"used up"}'))).toEqual({
    code: -1,
    message: "used up",
    data: "used up",
  });
});

test("an error is written in ASCII and read as it was", () => {
  const error = { code: -1, message: "naïve 😀 \u2028\ud800", data: [0] };
  const text = errorObjectText(error);
  expect(text).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(text)).toEqual(error);
  expect(errorObjectText({ code: 1, message: "m" })).toBe('{"code":1,"message":"m"}');
});

test("no fact of a failure replaces its code or hint", () => {
  const failure = new GatewayError("UPSTREAM_BUSY", "busy", { data: { code: "FAKE", hint: "fake", status: 429 } });
  const answer = JSON.parse(failureText(failure)) as { id: unknown; error: { code: number; data: object } };
  expect(answer).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: failure.row.rpc, message: "busy" } });
  expect(answer.error.data).toEqual({ code: "UPSTREAM_BUSY", hint: failure.hint, status: 429 });
  expect(Object.keys(answer.error.data).slice(0, 2)).toEqual(["code", "hint"]);
  expect(failureText(failure, '"id-1"')).toContain('"id":"id-1"');
});

test("a refused version is told which versions there are", () => {
  const answer = failureAnswer(new GatewayError("VERSION_UNSUPPORTED", "no"), -32_001);
  if (answer.kind !== "error") throw new Error("it is no error");
  const error = parseErrorObject(answer.error);
  expect(error.code).toBe(-32_001);
  expect((error.data as { supported: string[] }).supported).toEqual(
    expect.arrayContaining(["2026-07-28", "2025-11-25", "2024-11-05"]),
  );
});

test("a legacy client gets its own revision if that is spoken, otherwise the newest legacy one", () => {
  expect(negotiateLegacy("2024-11-05")).toBe("2024-11-05");
  for (const asked of ["2026-07-28", "2024-01-01", "", undefined, 20_250_618, ["2025-06-18"]])
    expect(negotiateLegacy(asked)).toBe("2025-11-25");
});

test("a revision that nobody knows is modern", () => {
  expect(["2025-06-18", "2026-07-28", "2099-01-01", ""].map(eraOfRevision)).toEqual([
    "legacy",
    "modern",
    "modern",
    "modern",
  ]);
});

test("keys of one connection are not passed on, others are", () => {
  expect(["progressToken", "io.modelcontextprotocol/clientInfo", "toolyard/maxTokens"].every(isHopKey)).toBe(true);
  expect(["traceparent", "io.modelcontextprotocol/other", "constructor", ""].some(isHopKey)).toBe(false);
});

test("log messages of the wanted level and above are passed on, and all of them to whoever never asked", () => {
  expect(isWanted("debug", undefined)).toBe(true);
  expect(isWanted("warning", "warning")).toBe(true);
  expect(isWanted("emergency", "warning")).toBe(true);
  expect(isWanted("notice", "warning")).toBe(false);
  for (const unknown of ["fatal", "WARNING", undefined, 3]) expect(isWanted(unknown, "debug")).toBe(false);
});

test("a server is asked for the lowest level that any client wants", () => {
  expect(leastLevel(["error", "info", "alert"])).toBe("info");
  expect(leastLevel([])).toBeUndefined();
  expect(isLogLevel("notice")).toBe(true);
  expect(["Notice", "", "trace", null].some(isLogLevel)).toBe(false);
});

test("of a large error the code and the beginning of its message stay, however it is written", () => {
  const read = (text: string) => parseErrorObject(shortError(bytes(text)));
  expect(read('{"code":-7,"message":"m","data":"small"}')).toEqual({ code: -7, message: "m", data: "small" });
  const padding = `"data":"${"x".repeat(300_000)}"`;
  const note = /^m \(the rest of an error of 300\d+ bytes is left out\)$/;
  expect(read(`{"code":-7,"message":"m",${padding}}`)).toEqual({ code: -7, message: expect.stringMatching(note) });
  for (const unit of ["a", "é", "漢", "😀", String.raw`\n`, String.raw`\u6f22`, String.raw`\"`, String.raw`\\`]) {
    const said = unit.repeat(300_000);
    for (const text of [`{"message":"${said}","code":-7}`, `"${said}"`]) {
      const { code, message } = read(text);
      expect([unit, code]).toEqual([unit, text.startsWith("{") ? -7 : -32_603]);
      const shown = message.slice(0, message.indexOf(" (the rest"));
      expect([unit, shown.length > 10_000]).toEqual([unit, true]);
      expect((JSON.parse(`"${said}"`) as string).startsWith(shown)).toBe(true);
      expect(message.length).toBeLessThan(66_000);
    }
  }
  const odd = [
    `[${"1,".repeat(200_000)}1]`,
    `{${'"a":1,'.repeat(100_001)}"code":5}`,
    `{"code":[${"1,".repeat(200_000)}1]}`,
  ];
  for (const text of [...odd, `{"code":1e400,"message":7,${padding}}`, `{"code":2,"message":"\\x",${padding}}`])
    expect(read(text).message).toMatch(/^\(the rest of an error of \d+ bytes is left out\)$/);
});
