import type { Clock } from "../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { explain } from "./argument-problem.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { readSchema } from "./schema/schema-reader.ts";
import { untold } from "./schema/schema-reading.ts";
import {
  defaultValidationLimits,
  measureSchema,
  type ValidationLimits,
  createValidatorCache,
} from "./validator-cache.ts";
import type { Problem } from "./wording.ts";

/** One schema, made ready to check values. */
export interface Validator {
  /**
   * The first problem of the value. Undefined when it fits, or when the check had to be given up (out of time,
   * endless recursion). Synchronous; never throws, never changes the value.
   */
  check(value: unknown): Problem | undefined;
}

/** The validator of a schema. `unvalidated`: it cannot be read at all, so its values are not checked. */
export type Verdict = Validator | "unvalidated";

/**
 * Checks arguments and results against the JSON Schemas of tools. A schema is read once, and then a check is a few
 * calls of functions. Whatever a schema contains, the worst that can happen is that its values go unchecked.
 */
export interface Validators {
  /**
   * Reads the schema unless that was done before.
   *
   * @param hash changes with the schema's text; a tool's two schemas need two
   */
  verdict(hash: string, schema: JsonObject): Verdict;
  forget(hash: string): void;
  /** Number of verdicts that are kept. */
  readonly size: number;
}

export interface ValidatorsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly limits?: Partial<ValidationLimits>;
  /** Called with what of a schema is not checked, and why. */
  readonly onUnchecked?: (hash: string, reason: string) => void;
}

export function createValidators(options: ValidatorsOptions): Validators {
  const limits: ValidationLimits = { ...defaultValidationLimits, ...options.limits };
  const runtime = createRuntime(() => options.clock.monotonic(), limits.checkMs);
  const cache = createValidatorCache<Verdict>(limits);

  function read(hash: string, schema: JsonObject): Verdict {
    const size = measureSchema(schema, limits.schemaBytes);
    const onUnchecked = (reason: string): void => options.onUnchecked?.(hash, reason);
    if (size === undefined) onUnchecked("a tool's schema is not checked: it is too large or too deep");
    const verdict = size === undefined ? "unvalidated" : toValidator(schema, runtime, onUnchecked);
    cache.set(hash, verdict, bytesPerCharacter * (size ?? 0));
    return verdict;
  }

  return {
    get size() {
      return cache.size;
    },
    verdict: (hash, schema) => cache.get(hash) ?? read(hash, schema),
    forget: (hash) => cache.delete(hash),
  };
}

/** What the functions take that a schema becomes, for each character of its JSON. */
export const bytesPerCharacter = 12;

/** Keywords that a reason names. */
const namedLimit = 5;

/** Reads a schema that was measured before. */
export function toValidator(schema: JsonObject, runtime: Runtime, onUnchecked?: (reason: string) => void): Verdict {
  const read = readSchema(schema, runtime);
  if (read === undefined) {
    onUnchecked?.("a tool's schema is not checked: its $schema names an unknown dialect");
    return "unvalidated";
  }
  const { test, skipped } = read;
  if (skipped.size > 0)
    onUnchecked?.(`a tool's schema is checked in part, without ${[...skipped].slice(0, namedLimit).join(", ")}`);
  return {
    check(value) {
      runtime.budget.begin();
      try {
        const faults = test(value);
        return faults === undefined || faults === untold ? undefined : explain(faults, value);
      } catch {
        // A check that cannot be finished is no reason to refuse a call. Endless recursion appears as a RangeError.
        return undefined;
      }
    },
  };
}
