import { expect, test } from "vitest";
import { formatHint } from "./format-hint.ts";

const dateTime = { type: "string", format: "date-time" };
const at = "`at` should be a date-time such as 2026-01-01T10:00:00Z";

test.each([
  ["a member", { properties: { at: dateTime } }, { at: "2026-01-01" }, `${at}; got "2026-01-01".`],
  ["one of several types", { properties: { at: { anyOf: [dateTime, { type: "null" }] } } }, { at: "x" }, /`at` should/],
  ["a reference", { properties: { at: { $ref: "#/$defs/t" } }, $defs: { t: dateTime } }, { at: "x" }, /`at` should/],
  ["a part of the whole", { allOf: [{ properties: { at: dateTime } }] }, { at: "x" }, /`at` should/],
  ["an item", { properties: { at: { items: dateTime } } }, { at: ["2026-01-01T10:00:00Z", "x"] }, /`at\[1\]` should/],
  ["another member", { additionalProperties: { format: "date" } }, { at: "x" }, /`at` should be a date such as/],
])("says which text has not the format of %s", (_what, schema, value, hint) => {
  expect(formatHint(schema, value)).toEqual(typeof hint === "string" ? hint : expect.stringMatching(hint));
});

test.each([
  ["it has the format", { properties: { at: dateTime } }, { at: "2026-01-01T10:00:00Z" }],
  ["it is no text", { properties: { at: dateTime } }, { at: 7 }],
  [
    "one of several formats fits",
    { properties: { at: { oneOf: [dateTime, { format: "date" }] } } },
    { at: "2026-01-01" },
  ],
  ["any text will do", { properties: { at: { anyOf: [dateTime, { type: "string" }] } } }, { at: "x" }],
  ["the format is not known", { properties: { at: { format: "constructor" } } }, { at: "x" }],
  ["a circle is all there is", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, { at: "x" }],
])("says nothing where %s", (_why, schema, value) => {
  expect(formatHint(schema, value)).toBeUndefined();
});

test("a text that may be a secret is not repeated", () => {
  expect(formatHint({ properties: { key: { format: "uuid" } } }, { key: "sk-12345" })).not.toContain("12345");
});

test("no more than three are named", () => {
  const hint = formatHint({ items: { format: "date" } }, ["a", "b", "c", "d"]);
  expect(hint?.match(/should be/g)).toHaveLength(3);
});
