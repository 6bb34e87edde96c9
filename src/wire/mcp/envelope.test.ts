import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { MessageError } from "./client-message.ts";
import { answerPieces, answerText, notificationText, requestText, writeNotification } from "./envelope.ts";
import { failureAnswer, failureBody, failureText } from "./error-object.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Code without comments, of every file that is no test. */
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => ({
    file: file.replaceAll("\\", "/"),
    code: readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""),
  }));

test("the envelope is written in one place, and read in one", () => {
  const naming = sources.filter(({ code }) => /jsonrpc/.test(code)).map(({ file }) => file);
  // The frame around pages of servers speaks to the page around it, in a script that imports nothing.
  const script = "front/web/sandbox.ts";
  // What is no JSON cannot be read: it is recognised by what libraries write around a result.
  const spoilt = "wire/mcp/server-message.ts";
  // The beginning of a long message is no JSON either: what a person watches is told by the same signs.
  const watched = "records/events/message-watch.ts";
  expect(naming.sort()).toEqual([script, watched, "wire/mcp/client-message.ts", "wire/mcp/envelope.ts", spoilt]);
});

test("the protocol's numbers stand in the table of failures and in one list of names", () => {
  const naming = sources.filter(({ code }) => /-3[12]_?\d{3}\b/.test(code)).map(({ file }) => file);
  expect(naming.sort()).toEqual(["kernel/failures/failures.ts", "wire/mcp/error-object.ts"]);
});

test("messages are what JSON-RPC says, in ASCII", () => {
  const texts = [
    requestText(1, "tools/call", '{"a":1}'),
    notificationText("n\u00fc"),
    notificationText("n", '{"b":2}'),
    writeNotification("n", {}),
    writeNotification("n", { c: "\u00fc" }),
    answerText('"x"', '"result":{}'),
    answerPieces(7, ['"result":', Buffer.from("{}")]).join(""),
  ];
  expect(texts.join("")).toMatch(/^[\x20-\x7e]*$/);
  expect(texts.map((text) => JSON.parse(text) as object)).toEqual([
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { a: 1 } },
    { jsonrpc: "2.0", method: "n\u00fc" },
    { jsonrpc: "2.0", method: "n", params: { b: 2 } },
    { jsonrpc: "2.0", method: "n" },
    { jsonrpc: "2.0", method: "n", params: { c: "\u00fc" } },
    { jsonrpc: "2.0", id: "x", result: {} },
    { jsonrpc: "2.0", id: 7, result: {} },
  ]);
});

test("a failure is told with its row's code and hint, which no fact can stand in place of", () => {
  const failure = new GatewayError("TOOL_UNKNOWN", "no such tool", { data: { code: "other", hint: "", near: ["a"] } });
  const error = {
    code: failure.row.rpc,
    message: "no such tool",
    data: { code: "TOOL_UNKNOWN", hint: failure.hint, near: ["a"] },
  };
  expect(JSON.parse(`{${failureBody(failure)}}`)).toEqual({ error });
  expect(JSON.parse(failureText(failure))).toEqual({ jsonrpc: "2.0", id: null, error });
  expect(JSON.parse(failureText(failure, '"i"'))).toMatchObject({ id: "i" });
  const answer = failureAnswer(failure, -1);
  expect(answer.kind === "error" && JSON.parse(answer.error.toString("latin1"))).toEqual({ ...error, code: -1 });
});

test("a message that cannot be used is answered under the id that could be read of it", () => {
  expect(JSON.parse(failureText(new MessageError("REQUEST_INVALID", "no method", "5")))).toMatchObject({ id: 5 });
  expect(JSON.parse(failureText(new MessageError("PARSE_ERROR", "no JSON")))).toMatchObject({ id: null });
});

test("a version that nobody speaks comes with those that are spoken", () => {
  const { error } = JSON.parse(`{${failureBody(new GatewayError("VERSION_UNSUPPORTED", "1999"))}}`) as {
    error: { data: { supported: string[] } };
  };
  expect(error.data.supported).toContain("2026-07-28");
});
