import { expect, test } from "vitest";
import { withoutNulls } from "./client-capabilities.ts";

test("what is null is not declared, and what has no null stays the same object", () => {
  const given = { sampling: null, elicitation: { form: null, url: {} }, roots: { listChanged: true }, odd: 1 };
  expect(withoutNulls(given)).toEqual({ elicitation: { url: {} }, roots: { listChanged: true }, odd: 1 });
  const plain = { sampling: {}, experimental: { deep: { value: null } } };
  expect(withoutNulls(plain)).toBe(plain);
});
