import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toClientName, withHash } from "./name-claims.ts";

test("a name that clients take stays as it is", () => {
  for (const name of ["a", "server-tool_1", "x".repeat(64)]) expect(toClientName(name, "identity")).toBe(name);
});

test("any other name becomes one, different for every identity", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), fc.string(), fc.string(), (text, one, other) => {
      expect(toClientName(text, one)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      if (one !== other) expect(withHash(text, one, 8)).not.toBe(withHash(text, other, 8));
    }),
  );
});

test("a longer hash is still a name, and begins with the same readable part", () => {
  expect(withHash("send email", "id", 8)).toMatch(/^send_email_[0-9a-f]{8}$/);
  expect(withHash("x".repeat(100), "id", 32)).toMatch(/^x{31}_[0-9a-f]{32}$/);
});
