import { expect, test } from "vitest";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { createValidators } from "../validators.ts";
import type { Problem } from "../wording.ts";
import { patientLimits } from "../../../../test/harness/patient-limits.ts";

const validators = createValidators({ clock: systemClock, limits: patientLimits });

const verdictOf = (schema: JsonObject) => validators.verdict(JSON.stringify(schema), schema);

function check(schema: JsonObject, value: unknown): Problem | undefined {
  const verdict = verdictOf(schema);
  if (verdict === "unvalidated") throw new Error("unvalidated");
  return verdict.check(value);
}

const tuple = { items: [{ type: "string" }] };

test("2020-12 is the default", () => {
  expect(check({ prefixItems: [{ type: "string" }] }, [1])).toMatchObject({ path: "[0]" });
  expect(check({ dependentRequired: { a: ["b"] } }, { a: 1 })).toMatchObject({
    message: "missing `b`, required when `a` is given",
  });
});

test("a schema that only draft-07 allows is read as that", () => {
  expect(check(tuple, [1])).toMatchObject({ path: "[0]" });
});

test.each([
  "http://json-schema.org/draft-07/schema#",
  "http://json-schema.org/draft-06/schema#",
  "http://json-schema.org/draft-04/schema#",
  "https://json-schema.org/draft/2019-09/schema",
])("%s", (dialect) => {
  expect(check({ $schema: dialect, ...tuple }, [1])).toMatchObject({ path: "[0]" });
});

test("2020-12 by name does not read items as draft-07 does", () => {
  const named = { $schema: "https://json-schema.org/draft/2020-12/schema", ...tuple };
  expect(check(named, [1])).toBeUndefined();
  expect(check({ ...named, maxItems: 1 }, [1, 2])).toMatchObject({ path: "" });
});

test.each([
  [{ dependentRequired: { a: ["b"] } }, { a: 1 }],
  [{ dependentSchemas: { a: false } }, { a: 1 }],
  [{ prefixItems: [false] }, [1]],
  [{ contains: true, minContains: 2 }, [1]],
  [{ unevaluatedProperties: false }, { a: 1 }],
])("draft-07 does not know %j", (schema, value) => {
  expect(check({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, value)).toBeUndefined();
  expect(check(schema, value)).toBeDefined();
});

test("up to draft-07 what stands beside $ref is ignored", () => {
  const schema = {
    properties: { a: { $ref: "#/definitions/text", maxLength: 1 } },
    definitions: { text: { type: "string" } },
  };
  expect(check({ $schema: "http://json-schema.org/draft-07/schema#", ...schema }, { a: "long" })).toBeUndefined();
  expect(check(schema, { a: "long" })).toMatchObject({ path: "a" });
});

test.each([{ $schema: "https://example.com/dialect" }, { $schema: 5 }])("%j is unvalidated", (schema) => {
  expect(verdictOf(schema)).toBe("unvalidated");
});
