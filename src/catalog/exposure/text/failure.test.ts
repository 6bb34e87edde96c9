import { expect, test } from "vitest";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isForModel, renderFailure } from "./failure.ts";

const textOf = (error: GatewayError): Record<string, unknown> =>
  JSON.parse((renderFailure(error, undefined) as { content: [{ text: string }] }).content[0].text);

test("a failure is a tool's error with code, message and hint first, and its facts beside them", () => {
  const error = new GatewayError("TOOL_UNKNOWN", "there is none", { data: { closest: ["a:b"] } });
  expect(renderFailure(error, undefined)).toMatchObject({ isError: true });
  expect(Object.keys(textOf(error))).toEqual(["code", "message", "hint", "closest"]);
});

test("facts never take the place of what is ours", () => {
  const error = new GatewayError("CONNECT_FAILED", "no connection", {
    data: { code: "ECONNREFUSED", message: "x", hint: "y", port: 9 },
  });
  expect(textOf(error)).toEqual({ code: "CONNECT_FAILED", message: "no connection", hint: error.hint, port: 9 });
});

test("what no model can mend is no tool's error", () => {
  for (const code of ["PARSE_ERROR", "METHOD_UNKNOWN", "UPSTREAM_PROTOCOL", "INTERNAL"] as const)
    expect(isForModel(new GatewayError(code, ""))).toBe(false);
  for (const code of [
    "TOOL_UNKNOWN",
    "ARGUMENTS_INVALID",
    "UPSTREAM_TIMEOUT",
    "RESULT_TOO_LARGE",
    "POLICY_DENIED",
    "RATE_LIMITED",
  ] as const)
    expect(isForModel(new GatewayError(code, ""))).toBe(true);
});
