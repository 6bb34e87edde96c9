import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { equal } from "../runtime.ts";
import type { Fault } from "../wording.ts";
import { filled, plainly } from "./schema-keywords.ts";
import { exactly, fault, fits, inOrder, mustCount, untold, type Reading, type Test } from "./schema-reading.ts";

/** The check of one keyword for values of any type. Throws Malformed. */
export function readChoice(reading: Reading, keyword: string, schema: JsonObject): Test {
  const given = schema[keyword];
  const branches = (as: Reading): readonly Test[] => filled(given).map((each) => reading.read(as, each));
  switch (keyword) {
    case "const":
      return constant(reading, plainly(given));
    case "enum":
      return enumeration(reading, filled(given).map(plainly));
    case "not":
      return not(reading.read(exactly(reading), given));
    case "anyOf":
      return anyOf(reading, branches({ ...reading, isBranch: true }));
    case "oneOf":
      return oneOf(reading, branches(exactly(reading)));
    case "allOf":
      return inOrder(branches(reading));
    case "if":
      return condition(reading, schema);
    default:
      return reading.follow(reading, given);
  }
}

function constant({ runtime }: Reading, allowedValue: unknown): Test {
  const wrong = [fault("const", { allowedValue })];
  if (typeof allowedValue !== "object") return (value) => (value === allowedValue ? undefined : wrong);
  return (value) => (equal(value, allowedValue, runtime.budget) ? undefined : wrong);
}

function enumeration(reading: Reading, allowedValues: readonly unknown[]): Test {
  mustCount(reading, allowedValues.length / valuesPerPart);
  const wrong = [fault("enum", { allowedValues })];
  const allowed = new Set(allowedValues);
  const objects = allowedValues.filter((each) => typeof each === "object" && each !== null);
  if (objects.length === 0) return (value) => (allowed.has(value) ? undefined : wrong);
  const { budget } = reading.runtime;
  return (value) => (allowed.has(value) || objects.some((each) => equal(value, each, budget)) ? undefined : wrong);
}

/** Values of an enumeration that take as much memory as another part of a schema, about. */
const valuesPerPart = 4;

// What Ajv says of combinations of schemas: the complaints of all branches that it looked at, and then its own.

function anyOf(reading: Reading, branches: readonly Test[]): Test {
  return (value) => {
    reading.pay(branches.length);
    const all: Fault[] = [];
    let open = false;
    for (const branch of branches) {
      const wrong = branch(value);
      if (wrong === undefined) return undefined;
      if (wrong !== untold) all.push(...wrong);
      else if (reading.isExact) open = true;
      else return untold;
    }
    return open ? untold : [...all, fault("anyOf", {})];
  };
}

/** Ajv stops at the second branch that fits. */
function oneOf(reading: Reading, branches: readonly Test[]): Test {
  return (value) => {
    reading.pay(branches.length);
    const all: Fault[] = [];
    let passing: number | undefined;
    let open = false;
    for (const [place, branch] of branches.entries()) {
      const wrong = branch(value);
      if (wrong === untold) open = true;
      else if (wrong !== undefined) all.push(...wrong);
      else if (passing === undefined) passing = place;
      else return [...all, fault("oneOf", { passingSchemas: [passing, place] })];
    }
    if (open) return untold;
    return passing === undefined ? [...all, fault("oneOf", { passingSchemas: null })] : undefined;
  };
}

function not(inner: Test): Test {
  const wrong = [fault("not", {})];
  return (value) => {
    const found = inner(value);
    if (found === undefined) return wrong;
    return found === untold ? untold : undefined;
  };
}

function condition(reading: Reading, schema: JsonObject): Test {
  const clauses = ["then", "else"] as const;
  const [then, otherwise] = clauses.map((keyword): Test | undefined => {
    if (schema[keyword] === undefined) return undefined;
    const test = reading.read(reading, schema[keyword]);
    const failed = fault("if", { failingKeyword: keyword });
    return (value) => {
      const wrong = test(value);
      return wrong === undefined || wrong === untold || !reading.isBranch ? wrong : [...wrong, failed];
    };
  });
  if (then === undefined && otherwise === undefined) return fits;
  const asks = reading.read(exactly(reading), schema["if"]);
  return (value) => {
    reading.pay(2);
    const found = asks(value);
    if (found === untold) return untold;
    return (found === undefined ? then : otherwise)?.(value);
  };
}
