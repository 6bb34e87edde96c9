import { expect, test } from "vitest";
import { capabilitiesWithoutNulls } from "./null-members.ts";

test("what is null is not declared, and what has no null stays the same object", () => {
  const given = { sampling: null, elicitation: { form: null, url: {} }, roots: { listChanged: true }, odd: 1 };
  expect(capabilitiesWithoutNulls(given)).toEqual({ elicitation: { url: {} }, roots: { listChanged: true }, odd: 1 });
  const plain = { sampling: {}, experimental: { deep: { value: null } } };
  expect(capabilitiesWithoutNulls(plain)).toBe(plain);
});
