import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { createValidators } from "../validators.ts";
import type { Problem } from "../wording.ts";
import { patientLimits } from "../../../../test/harness/patient-limits.ts";

const never = new AbortController().signal;
const validators = createValidators({ clock: systemClock, limits: patientLimits });
afterAll(() => validators[Symbol.asyncDispose]());

const prepare = (schema: JsonObject) => validators.prepare(JSON.stringify(schema), schema, never);

async function check(schema: JsonObject, value: unknown): Promise<Problem | undefined> {
  const verdict = await prepare(schema);
  if (verdict === "unvalidated") throw new Error("unvalidated");
  return verdict.check(value);
}

const tuple = { items: [{ type: "string" }] };

test("2020-12 is the default", async () => {
  expect(await check({ prefixItems: [{ type: "string" }] }, [1])).toMatchObject({ path: "[0]" });
  expect(await check({ dependentRequired: { a: ["b"] } }, { a: 1 })).toMatchObject({
    message: "missing `b`, required when `a` is given",
  });
});

test("a schema that only draft-07 allows is read as that", async () => {
  expect(await check(tuple, [1])).toMatchObject({ path: "[0]" });
});

test.each([
  "http://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft-06/schema#",
  "http://json-schema.org/draft-04/schema#",
  "https://json-schema.org/draft/2019-09/schema",
])("%s", async (dialect) => {
  expect(await check({ $schema: dialect, ...tuple }, [1])).toMatchObject({ path: "[0]" });
});

test("2020-12 by name does not read items as draft-07 does", async () => {
  expect(await prepare({ $schema: "https://json-schema.org/draft/2020-12/schema", ...tuple })).toBe("unvalidated");
});

test("up to draft-07 what stands beside $ref is ignored", async () => {
  const schema = {
    properties: { a: { $ref: "#/definitions/text", maxLength: 1 } },
    definitions: { text: { type: "string" } },
  };
  expect(await check({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, { a: "long" })).toBeUndefined();
  expect(await check(schema, { a: "long" })).toMatchObject({ path: "a" });
});

test.each([
  { $schema: "https://example.com/dialect" },
  { $schema: 5 },
  { $schema: "http://json-schema.org/draft-04/schema#", minimum: 1, exclusiveMinimum: true },
])("%j is unvalidated", async (schema) => {
  expect(await prepare(schema)).toBe("unvalidated");
});

test.each([{ required: true }, { type: "text" }, { properties: [] }, { $async: true }])(
  "%j is no schema that can be compiled",
  async (schema) => {
    expect(await prepare(schema)).toBe("unvalidated");
  },
);
