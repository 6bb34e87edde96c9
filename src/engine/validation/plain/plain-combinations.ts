import type { ErrorObject } from "ajv";
import { fault, type PlainTest, type Reading } from "./plain-reading.ts";

// What Ajv says of combinations of schemas: the complaints of all branches that it looked at, and then its own.

export function anyOf(reading: Reading, branches: readonly PlainTest[]): PlainTest {
  return (value) => {
    reading.pay(branches.length);
    const all: ErrorObject[] = [];
    for (const branch of branches) {
      const wrong = branch(value);
      if (wrong === undefined) return undefined;
      all.push(...wrong);
    }
    return [...all, fault("anyOf", {})];
  };
}

/** Ajv stops at the second branch that fits; where `mayShare`, guards.ts has it stop at the first, as `anyOf` does. */
export function oneOf(reading: Reading, branches: readonly PlainTest[], mayShare: boolean): PlainTest {
  return (value) => {
    reading.pay(branches.length);
    const all: ErrorObject[] = [];
    let passing: number | undefined;
    for (const [place, branch] of branches.entries()) {
      const wrong = branch(value);
      if (wrong !== undefined) all.push(...wrong);
      else if (mayShare) return undefined;
      else if (passing === undefined) passing = place;
      else return [...all, fault("oneOf", { passingSchemas: [passing, place] })];
    }
    return passing === undefined ? [...all, fault("oneOf", { passingSchemas: null })] : undefined;
  };
}

export function not(inner: PlainTest): PlainTest {
  const wrong = [fault("not", {})];
  return (value) => (inner(value) === undefined ? wrong : undefined);
}
