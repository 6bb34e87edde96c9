import { expect, test } from "vitest";
import { compareServed, differingVariables, sealServed, type Served } from "./gateway-holder.ts";

const secret = "key";
const served: Served = { configFile: "/c.json", directory: "/", variables: { A: "1", EMPTY: "", UNSET: null } };
const compare = (wanted: Partial<Served>) =>
  compareServed(sealServed(served, secret), { ...served, ...wanted }, secret);

test("a sealed value can be compared and not be read", () => {
  const sealed = sealServed({ ...served, variables: { A: "hunter2", B: "hunter2" } }, secret);
  expect(JSON.stringify(sealed)).not.toContain("hunter2");
  expect(sealed.variables["A"]).not.toBe(sealed.variables["B"]);
  expect(sealServed(served, "other").variables["A"]).not.toBe(sealServed(served, secret).variables["A"]);
});

test("the same configuration is the same, in whatever order its variables are", () => {
  expect(compare({})).toBe("same");
  expect(compare({ variables: { UNSET: null, EMPTY: "", A: "1" } })).toBe("same");
});

test("another file, or another folder for relative paths, is another configuration", () => {
  expect(compare({ configFile: "/d.json" })).toBe("another");
  expect(compare({ configFile: null })).toBe("another");
  expect(compare({ directory: "/home" })).toBe("another");
});

test("a file that refers to other variables was edited", () => {
  expect(compare({ variables: { A: "1", EMPTY: "" } })).toBe("edited");
  expect(compare({ variables: { ...served.variables, NEW: "1" } })).toBe("edited");
  expect(compare({ variables: { A: "1", EMPTY: "", toString: null } })).toBe("edited");
});

test("a variable with another value is told by its name, one that is not set differs from an empty one", () => {
  expect(compare({ variables: { ...served.variables, A: "2" } })).toBe("other-variables");
  expect(compare({ variables: { ...served.variables, UNSET: "" } })).toBe("other-variables");
  expect(compare({ variables: { ...served.variables, EMPTY: null } })).toBe("other-variables");
  const wanted = { ...served, variables: { A: "2", EMPTY: "", UNSET: "x", NEW: "1" } };
  expect(differingVariables(sealServed(served, secret), wanted, secret)).toEqual(["A", "UNSET"]);
});
