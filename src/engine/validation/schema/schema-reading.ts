import { estimateProgram } from "../formats/matcher.ts";
import type { Runtime } from "../runtime.ts";
import type { Fault } from "../wording.ts";
import type { Dialect } from "./schema-keywords.ts";
import { Malformed } from "./schema-keywords.ts";

/**
 * Finds the faults of a value, innermost first and as Ajv would report it. Undefined when it fits; {@link untold} when
 * that cannot be told, because a part of the schema is not checked.
 */
export type Test = (value: unknown) => readonly Fault[] | undefined;

/** Neither fits nor does not fit. Known faults go before it. */
export const untold: readonly Fault[] = Object.freeze([]);

export const fits: Test = () => undefined;

/** More parts than any of 1,478 real tools has. Parts beyond that are not checked. */
const partLimit = 3_000;

/** A schema that is being read. */
export interface Reading {
  readonly runtime: Runtime;
  readonly dialect: Dialect;
  /** It is part of an alternative, where Ajv adds the fault of the choice to that of a wrong type. */
  readonly isBranch: boolean;
  /**
   * Whether it matters that a value fits, and not only that it does not: within `not`, for instance. Only there, an
   * unchecked value has to be told from one that fits.
   */
  readonly isExact: boolean;
  /** It is part of a schema with an identifier of its own, so that references in it lead elsewhere. */
  readonly isForeign: boolean;
  readonly depth: number;
  /** The check of a part of the schema that is being read. */
  read(reading: Reading, schema: unknown): Test;
  /** The check of what a `$ref` of this schema points at. Throws Malformed when it does not point into the schema. */
  follow(reading: Reading, reference: unknown): Test;
  /** Pays for steps of a check from the budget. */
  pay(units: number): void;
  /** Whether there may be so many parts more. */
  count(parts: number): boolean;
  /** Notes that something is not checked, and takes its place. */
  skip(what: string): Test;
}

export function startReading(
  given: Pick<Reading, "runtime" | "dialect" | "read" | "follow"> & { readonly skipped: Set<string> },
): Reading {
  const { runtime, skipped } = given;
  let parts = 0;
  return {
    ...given,
    isBranch: false,
    isExact: false,
    isForeign: false,
    depth: -1,
    pay(units) {
      if ((runtime.budget.left -= units) < 0) runtime.budget.look();
    },
    count: (more) => (parts += more) <= partLimit,
    skip(what) {
      skipped.add(what);
      return () => untold;
    },
  };
}

/** The same, of a part where it matters that a value fits. */
export function exactly(reading: Reading): Reading {
  return { ...reading, isBranch: true, isExact: true };
}

/** Throws Malformed when there are too many parts. */
export function mustCount(reading: Reading, parts: number): void {
  if (!reading.count(parts)) throw new Malformed();
}

/** Whether a text has a pattern in it; undefined where that cannot be told. Throws Malformed where it is too long. */
export function patternTest(reading: Reading, pattern: string): (text: string) => boolean | undefined {
  mustCount(reading, estimateProgram(pattern) / instructionsPerPart);
  return reading.runtime.pattern(pattern);
}

/** Instructions of a pattern's program that take as much as another part of a schema, about. */
const instructionsPerPart = 4;

/** The first complaint of several tests. */
export function inOrder(all: readonly Test[]): Test {
  const tests = all.filter((test) => test !== fits);
  const [only, second] = tests;
  if (only === undefined) return fits;
  if (second === undefined) return only;
  return (value) => {
    let open: typeof untold | undefined;
    for (const test of tests) {
      const wrong = test(value);
      if (wrong === undefined) continue;
      if (wrong !== untold) return wrong;
      open = untold;
    }
    return open;
  };
}

export function fault(keyword: string, params: Readonly<Record<string, unknown>>): Fault {
  return { keyword, params, instancePath: "" };
}

/** The same complaints of a member or an element, told of the whole. */
export function below(name: string, faults: readonly Fault[]): readonly Fault[] {
  const step = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return faults.map((each) => ({ ...each, instancePath: step + each.instancePath }));
}
