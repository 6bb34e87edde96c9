import { expect, test } from "vitest";
import { failures } from "./failures.ts";
import { GatewayError, rewriteFailure, toGatewayError } from "./gateway-error.ts";

test("a failure knows its row, and the thrower may know a better hint", () => {
  const plain = new GatewayError("TOOL_UNKNOWN", "there is none");
  expect([plain.hint, plain.row.http]).toEqual([failures.TOOL_UNKNOWN.hint, 404]);
  expect(new GatewayError("TOOL_UNKNOWN", "", { hint: "Look there." }).hint).toBe("Look there.");
});

test("whatever was thrown becomes one, with its cause kept for the log", () => {
  const own = new GatewayError("RATE_LIMITED", "");
  expect(toGatewayError(own)).toBe(own);
  const cause = new TypeError("oops");
  expect(toGatewayError(cause)).toMatchObject({ code: "INTERNAL", message: "internal error: oops", cause });
  for (const thrown of [undefined, null, "text", 7, {}]) expect(toGatewayError(thrown).code).toBe("INTERNAL");
});

test("a full disk is said as such, wherever a file was written, and too many watched files are not taken for one", () => {
  const ofSystem = (code: string, syscall: string): Error =>
    Object.assign(new Error(`${code}: no space left on device, ${syscall}`), { code, syscall });
  for (const code of ["ENOSPC", "EDQUOT"])
    expect(toGatewayError(ofSystem(code, "write"))).toMatchObject({
      code: "STORE_FULL",
      message: `there is no room on the disk: ${code}: no space left on device, write`,
    });
  expect(toGatewayError(ofSystem("ENOSPC", "watch")).code).toBe("INTERNAL");
});

test("a rewritten failure is the same one with other texts; what is no text stays as it is", () => {
  const cause = new Error("why");
  const failure = new GatewayError("SPAWN_FAILED", "cannot start secret", {
    hint: "Install secret.",
    data: { command: "secret", pid: 5, deep: ["secret"] },
    cause,
  });
  const rewritten = rewriteFailure(failure, (text) => text.replaceAll("secret", "x"));
  expect(rewritten).toMatchObject({
    code: "SPAWN_FAILED",
    message: "cannot start x",
    hint: "Install x.",
    data: { command: "x", pid: 5, deep: ["x"] },
    cause,
  });
  expect(rewriteFailure(failure, (text) => text)).toBe(failure);
});
