import { describe, expect, test } from "vitest";
import type { Era } from "../../../kernel/call/call-context.ts";
import { relayError } from "./outcome-text.ts";

function relay(error: unknown, era: Era) {
  const { body, status } = relayError(Buffer.from(typeof error === "string" ? error : JSON.stringify(error)), era);
  return { status, error: (JSON.parse(`{${String(body)}}`) as { error: unknown }).error };
}

describe.each(["modern", "legacy"] as const)("a server's error for a %s client", (era) => {
  test("keeps its bytes, so that no number in its data changes", () => {
    const text = '{"code":-5,"message":"ü","data":{"id":12345678901234567890,"x":1.50}}';
    expect(relayError(Buffer.from(text), era)).toEqual({
      body: `"error":${Buffer.from(text).toString("latin1")}`,
      status: 200,
    });
  });

  test.each([-32_020, -32_022])("does not blame the client for what the gateway sent: %d", (code) => {
    expect(relay({ code, message: "bad header", data: { a: 1 } }, era)).toEqual({
      status: 200,
      error: { code: -31_052, message: "the server refused what the gateway sent: bad header", data: { a: 1 } },
    });
  });

  test.each([
    ["a text", '"no"', "no"],
    ["null", "null", "the server gave no message"],
    ["without a message", '{"code":-32603}', "the server gave no message"],
    ["with a code that is no integer", '{"code":"E","message":"m"}', "m"],
    ["with a fraction as code", '{"code":1.5,"message":"m"}', "m"],
  ])("is made valid when it is %s", (_what, text, message) => {
    expect(relay(text, era)).toEqual({ status: 200, error: { code: -32_603, message } });
  });
});

describe("a code that a revision does not have is replaced:", () => {
  test.each([-32_002, -32_042])("%d for modern clients only", (code) => {
    const error = { code, message: "no such thing", data: { uri: "x:y" } };
    expect(relay(error, "modern")).toEqual({ status: 200, error: { ...error, code: -32_602 } });
    expect(relay(error, "legacy")).toEqual({ status: 200, error });
  });

  test("a missing capability for legacy clients, who cannot declare it in a request", () => {
    const error = { code: -32_021, message: "needs sampling", data: { requiredCapabilities: { sampling: {} } } };
    expect(relay(error, "legacy")).toEqual({ status: 200, error: { ...error, code: -31_024 } });
    expect(relay(error, "modern")).toEqual({ status: 400, error });
  });
});

test("a method that the server does not know is HTTP 404 for modern clients only", () => {
  const error = { code: -32_601, message: "no" };
  expect(relay(error, "modern")).toEqual({ status: 404, error });
  expect(relay(error, "legacy")).toEqual({ status: 200, error });
});
