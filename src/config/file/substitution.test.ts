import fc from "fast-check";
import { expect, test } from "vitest";
import { substitute } from "./substitution.ts";

const variables = { A: "one", EMPTY: "", DOLLAR: "${A}", HOME: "/home/x" };

test.each([
  ["${A}", "one"],
  ["x${env:A}y${A}", "xoneyone"],
  ["${GONE:-default}", "default"],
  ["${env:GONE:-}", ""],
  ["${A:-default}", "one"],
  ["${EMPTY:-default}", "default"],
  ["${EMPTY}", ""],
  ["${GONE:-${A}/x}", "one/x"],
  ['${GONE:-{"a":{}}}', '{"a":{}}'],
  ["${DOLLAR}", "${A}"],
  ["$A $(A) {A} ${} ${ A } ${1A} ${A", "$A $(A) {A} ${} ${ A } ${1A} ${A"],
  ["${GONE:-never closed", "${GONE:-never closed"],
  ["$${A}", "$one"],
  ["${config:x} ${command:y}", "${config:x} ${command:y}"],
])("%j becomes %j", (text, expected) => {
  expect(substitute(text, { variables })).toMatchObject({ value: expected, missing: [] });
});

test("FAULT 88: what is missing is named with its path, and left as it was written", () => {
  const value = {
    a: ["x", "${GONE}/${A}"],
    b: { c: "${input:api-key}" },
    d: "${toString}${__proto__}",
  };
  const result = substitute(value, { variables });
  expect(result.value).toEqual({
    a: ["x", "${GONE}/one"],
    b: { c: "${input:api-key}" },
    d: "${toString}${__proto__}",
  });
  expect(result.missing).toEqual([
    { path: ["a", 1], name: "GONE" },
    { path: ["b", "c"], name: "input:api-key" },
    { path: ["d"], name: "toString" },
    { path: ["d"], name: "__proto__" },
  ]);
});

test("a text made to cost time or the stack costs neither", () => {
  for (const part of ["${A:-", "${GONE:-", "${", "${GONE:-{"]) {
    const text = part.repeat(20_000);
    expect(substitute(text, { variables }).value).toEqual(expect.any(String));
    expect(substitute(`${text}${"}".repeat(20_000)}`, { variables }).value).toEqual(expect.any(String));
  }
});

test("values that went in are secrets, defaults and the home directory are not", () => {
  expect([...substitute("${A}${GONE:-d}${HOME}", { variables }).secrets]).toEqual(["one"]);
});

test("a string without `${` is never changed, whatever the variables are", () => {
  const text = fc.string({ unit: "binary" }).filter((candidate) => !candidate.includes("${"));
  fc.assert(fc.property(text, (candidate) => substitute(candidate, { variables }).value === candidate));
});
