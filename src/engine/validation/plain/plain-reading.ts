import type { ErrorObject } from "ajv";
import { NotPlain } from "./plain-keywords.ts";
import type { FormatSearch } from "../formats/format-search.ts";
import type { Runtime } from "../runtime.ts";

/** Finds what is wrong with a value, innermost first and as Ajv would report it; undefined when it fits. */
export type PlainTest = (value: unknown) => readonly ErrorObject[] | undefined;

/** More parts than any plain schema of a real tool has; a larger one is left to the worker and its limits. */
const partLimit = 2_000;

/** A schema that is being read. */
export interface Reading {
  readonly runtime: Runtime;
  /** It is part of an alternative, where Ajv adds to a wrong type what is wrong with the choice. */
  readonly isBranch: boolean;
  /** Up to draft-07 what stands beside a reference is ignored. */
  readonly areReferencesAlone: boolean;
  readonly namesFormat: FormatSearch;
  /** Compiled code pays for what it does in the same way (guards.ts). */
  pay(units: number): void;
  /** Throws NotPlain when there are too many in all. */
  count(parts: number): void;
  /** The check of what a `$ref` of this schema points at. Throws NotPlain when it does not point into the schema. */
  follow(reading: Reading, reference: unknown, depth: number): PlainTest;
}

export function startReading(
  given: Pick<Reading, "runtime" | "areReferencesAlone" | "follow" | "namesFormat">,
): Reading {
  const { runtime } = given;
  let parts = 0;
  return {
    ...given,
    isBranch: false,
    pay(units) {
      if ((runtime.budget.left -= units) < 0) runtime.budget.look();
    },
    count(more) {
      parts += more;
      if (parts > partLimit) throw new NotPlain();
    },
  };
}

/** The first complaint of several tests. */
export function inOrder(tests: readonly PlainTest[]): PlainTest {
  const [only, second] = tests;
  if (only === undefined) return () => undefined;
  if (second === undefined) return only;
  return (value) => {
    for (const test of tests) {
      const wrong = test(value);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

export function fault(keyword: string, params: Readonly<Record<string, unknown>>): ErrorObject {
  return { keyword, params, instancePath: "", schemaPath: "" };
}

/** The same complaints of a member or an element, told of the whole. */
export function below(name: string, errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const step = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return errors.map((error) => ({ ...error, instancePath: step + error.instancePath }));
}
