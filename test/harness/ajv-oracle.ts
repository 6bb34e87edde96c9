import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { explain } from "../../src/engine/validation/argument-problem.ts";
import type { Runtime } from "../../src/engine/validation/runtime.ts";
import type { Problem } from "../../src/engine/validation/wording.ts";
import { isJsonObject, type JsonObject } from "../../src/kernel/text/json-bytes.ts";

/** What Ajv says of a value. `"gave up"` where its code throws. */
export type Oracle = (value: unknown) => { readonly fits: boolean; readonly problem: Problem | undefined } | "gave up";

export interface OracleOptions {
  /** Runs patterns as the gateway does; otherwise they are JavaScript's. */
  readonly runtime?: Runtime;
  readonly checksFormats?: boolean;
}

/** The schema as Ajv compiles it; undefined when it refuses the schema. Its complaints are worded as ours. */
export function ajvOracle({ $schema, ...schema }: JsonObject, options: OracleOptions = {}): Oracle | undefined {
  const validate = compile(typeof $schema === "string" ? $schema : "", schema, options);
  if (validate === undefined) return undefined;
  return (given) => {
    // Ajv compares constructors, which values of fast-check may not have.
    const value: unknown = structuredClone(given);
    try {
      if (validate(value)) return { fits: true, problem: undefined };
    } catch {
      return "gave up";
    }
    const faults = (validate.errors ?? []).map((error) => {
      if (error.keyword !== "additionalProperties") return error;
      const { properties, patternProperties } = error.parentSchema as JsonObject;
      const known = isJsonObject(properties) ? Object.keys(properties).slice(0, 20) : [];
      return { ...error, params: { ...error.params, allowed: patternProperties ? [...known, "..."] : known } };
    });
    return { fits: false, problem: explain(faults, value) };
  };
}

function compile(dialect: string, schema: JsonObject, { runtime, checksFormats = false }: OracleOptions) {
  const given: Options = {
    strict: false,
    ownProperties: true,
    meta: false,
    validateSchema: false,
    validateFormats: checksFormats,
    logger: false,
    inlineRefs: 8,
    verbose: true,
    ...(runtime === undefined ? {} : { code: { regExp: patternsOf(runtime) } }),
  };
  const ajv = dialect.includes("draft-0")
    ? new Ajv({ ...given, ignoreKeywordsWithRef: true })
    : new (dialect.includes("2019") ? Ajv2019 : Ajv2020)(given);
  if (checksFormats) addFormats.default(ajv);
  try {
    return ajv.compile(schema);
  } catch {
    return undefined;
  }
}

function patternsOf(runtime: Runtime): NonNullable<NonNullable<Options["code"]>["regExp"]> {
  const create = (pattern: string) => {
    const matches = runtime.pattern(pattern);
    return { test: (text: string) => matches(text) ?? true, toString: () => pattern };
  };
  return Object.assign(create, { code: "none" });
}
