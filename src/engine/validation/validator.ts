import type { ErrorObject } from "ajv";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { GivenUp } from "./budget.ts";
import { explain } from "./argument-problem.ts";
import { plainPartOf } from "./plain/plain-part.ts";
import type { PlainTest } from "./plain/plain-reading.ts";
import { toPlainTest } from "./plain/plain-schema.ts";
import type { Runtime } from "./runtime.ts";
import type { Problem } from "./wording.ts";

/** One compiled schema. */
export interface Validator {
  /**
   * The first problem of the value. Undefined when it fits, or when the check had to be given up (out of time,
   * endless recursion). Synchronous; never throws, never changes the value.
   */
  check(value: unknown): Problem | undefined;
}

/**
 * After this many checks that ran out of time, a schema is no longer tried, because each would take every caller as
 * long.
 */
const strikeLimit = 3;

/** Makes a validator from the worker's code. Throws when the code cannot be run. */
export function instantiate(code: string, runtime: Runtime): Validator {
  const validate = evaluate(code, runtime);
  return toValidator((value) => {
    if (validate(value)) return undefined;
    const errors = validate.errors ?? [];
    validate.errors = null;
    return errors;
  }, runtime);
}

/** The same of a schema that needs no compiler; undefined when it needs one. */
export function toPlainValidator(schema: JsonObject, runtime: Runtime): Validator | undefined {
  const test = toPlainTest(schema, runtime);
  return test === undefined ? undefined : toValidator(test, runtime);
}

/**
 * The same of what any schema says that needs no compiler: whatever fits the schema fits that. Undefined of a schema
 * that cannot be read without one, such as one of an unknown dialect.
 */
export function toPartialValidator(schema: JsonObject, runtime: Runtime): Validator | undefined {
  const isPlain = (part: JsonObject): boolean => toPlainTest(part, runtime) !== undefined;
  return toPlainValidator(plainPartOf(schema, isPlain), runtime);
}

function toValidator(test: PlainTest, runtime: Runtime): Validator {
  let strikes = 0;
  return {
    check(value) {
      if (strikes >= strikeLimit) return undefined;
      runtime.budget.begin();
      try {
        const errors = test(value);
        return errors === undefined ? undefined : explain(errors, value);
      } catch (error) {
        // A check that cannot be finished is no reason to refuse a call. Endless recursion appears as a RangeError.
        strikes += error instanceof GivenUp ? 1 : strikeLimit;
        return undefined;
      }
    },
  };
}

interface Validate {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[] | null;
}

/**
 * The code comes from our own worker. Ajv quotes the parts of a schema that it writes into code, and `compileSchema`
 * refuses schemas with the part that it does not quote.
 */
function evaluate(code: string, runtime: Runtime): Validate {
  const module: { exports: unknown } = { exports: undefined };
  // The main thread must not load Ajv, nor compile with it.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  new Function("module", "require", code)(module, runtime.require);
  if (typeof module.exports !== "function") throw new Error("compiled code exports no function");
  return module.exports as Validate;
}
