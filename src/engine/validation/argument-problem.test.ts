import { expect, test } from "vitest";
import { systemClock } from "../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { createValidators } from "./validators.ts";
import type { Problem } from "./wording.ts";
import { patientLimits } from "../../../test/harness/patient-limits.ts";

const validators = createValidators({ clock: systemClock, limits: patientLimits });

function check(schema: JsonObject, value: unknown): Problem | undefined {
  const verdict = validators.verdict(JSON.stringify(schema), schema);
  if (verdict === "unvalidated") throw new Error("unvalidated");
  return verdict.check(value);
}

const issue: JsonObject = {
  type: "object",
  properties: {
    repo: { type: "string", minLength: 1, maxLength: 5 },
    labels: { type: "array", items: { type: "string" }, uniqueItems: true },
    state: { enum: ["open", "closed"] },
    count: { type: "integer", minimum: 1, maximum: 10 },
    milestone: { anyOf: [{ type: "string" }, { type: "null" }] },
    due: { type: "string", format: "date-time" },
    code: { type: "string", pattern: "^a+$" },
    author: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
  required: ["repo"],
  additionalProperties: false,
};

test("arguments that fit have no problem", () => {
  const value = {
    repo: "a",
    labels: ["x"],
    state: "open",
    count: 3,
    milestone: null,
    due: "2026-01-01T00:00:00Z",
    code: "aa",
    author: { name: "b" },
  };
  expect(check(issue, value)).toBeUndefined();
});

test.each([
  [{}, "repo", "missing required `repo`"],
  [{ repo: "a", author: {} }, "author.name", "missing required `author.name`"],
  [{ repo: 1 }, "repo", "`repo` must be a string, got number"],
  [{ repo: "a", labels: ["x", 5] }, "labels[1]", "`labels[1]` must be a string, got number"],
  [{ repo: "a", labels: ["x", "x"] }, "labels", "`labels` must not hold the same item twice (items 0 and 1)"],
  [{ repo: "a", state: "x" }, "state", '`state` must be one of "open", "closed"'],
  [
    { repo: "a", zz: 1 },
    "zz",
    "unknown field `zz` (allowed: repo, labels, state, count, milestone, due, code, author)",
  ],
  [{ repo: "a", count: 1.5 }, "count", "`count` must be an integer, got 1.5"],
  [{ repo: "a", count: 11 }, "count", "`count` must be <= 10"],
  [{ repo: "a", milestone: 5 }, "milestone", "`milestone` must be a string or null, got number"],
  [{ repo: "a", code: "b" }, "code", "`code` must match the pattern ^a+$"],
  [{ repo: "aaaaaa" }, "repo", "`repo` must have at most 5 characters"],
  [{ repo: "" }, "repo", "`repo` must have at least 1 characters"],
  [[], "", "the value must be an object, got array"],
])("%j is told at %j: %s", (value, path, message) => {
  expect(check(issue, value)).toEqual({ path, message });
});

test("where no form fits, the one that got furthest is told of", () => {
  const byKind = {
    oneOf: [
      {
        properties: { kind: { const: "a" }, size: { type: "number" } },
        required: ["kind", "size"],
      },
      { properties: { name: { type: "string" } }, required: ["name"] },
    ],
  };
  expect(check(byKind, { kind: "a", size: "big" })).toMatchObject({
    path: "size",
    message: "`size` must be a number, got string",
  });
  expect(check(byKind, {})).toMatchObject({
    message: "missing required `kind`; or missing required `name`",
  });
});

test("a form whose kind is right is preferred to those of another kind", () => {
  const form = (kind: string) => ({
    properties: { kind: { const: kind }, size: { type: "number" } },
    required: ["kind", "size"],
  });
  const schema = { anyOf: [form("a"), form("b")] };
  expect(check(schema, { kind: "b", size: "big" })).toMatchObject({ path: "size" });
  expect(check(schema, { kind: "b" })).toMatchObject({ message: "missing required `size`" });
  expect(check(schema, { kind: "c", size: 1 })).toMatchObject({
    path: "kind",
    message: '`kind` must be "a" or "b", got string',
  });
});

test("a problem has at most 300 characters, however long names and lists are", () => {
  const long = "n".repeat(5_000);
  const schema = {
    properties: {
      [long]: { enum: Array.from({ length: 900 }, (_, index) => `${long.slice(0, 90)}${index}`) },
    },
  };
  const problem = check(schema, { [long]: 1 });
  expect(problem?.message.length).toBeLessThanOrEqual(300);
  expect(problem?.path.length).toBeLessThanOrEqual(300);
});
