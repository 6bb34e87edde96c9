import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { namedFieldLimit } from "../wording.ts";
import { Malformed, mustLookAlone, named, texts } from "./schema-keywords.ts";
import {
  below,
  fault,
  fits,
  inOrder,
  mustCount,
  patternTest,
  untold,
  type Reading,
  type Test,
} from "./schema-reading.ts";

/** The check of one keyword for objects. Throws Malformed. */
export function readObjectKeyword(reading: Reading, keyword: string, schema: JsonObject): Test {
  const given = schema[keyword];
  switch (keyword) {
    case "required":
      return required(reading, texts(given));
    case "propertyNames":
      return propertyNames(reading, reading.read({ ...reading, isBranch: true }, withoutType(given)));
    case "properties":
      return properties(
        reading,
        named(given).map(([name, inner]) => [name, reading.read(reading, inner)]),
      );
    case "patternProperties":
      return patternProperties(
        reading,
        named(given).map(([pattern, inner]) => [patternTest(reading, pattern), reading.read(reading, inner)]),
      );
    case "additionalProperties":
      return additional(reading, keyword, schema);
    case "dependencies":
    case "dependentRequired":
    case "dependentSchemas":
      return dependencies(reading, keyword, named(given));
    default:
      if (schema["additionalProperties"] !== undefined) return fits;
      mustLookAlone(schema);
      return additional(reading, keyword, schema);
  }
}

function required(reading: Reading, names: readonly string[]): Test {
  mustCount(reading, names.length);
  return (value) => {
    reading.pay(names.length);
    const missingProperty = names.find((name) => memberOf(value, name) === undefined);
    return missingProperty === undefined ? undefined : [fault("required", { missingProperty })];
  };
}

/** What zod writes for a record names the type of names, which all of them have. */
function withoutType(schema: unknown): unknown {
  return isJsonObject(schema) && schema["type"] === "string" ? { ...schema, type: undefined } : schema;
}

function propertyNames(reading: Reading, test: Test): Test {
  if (test === fits) return fits;
  return (value) => {
    let open: typeof untold | undefined;
    for (const name of Object.keys(value as object)) {
      reading.pay(1);
      const wrong = test(name);
      if (wrong === untold) open = untold;
      else if (wrong !== undefined) return [...wrong, fault("propertyNames", { propertyName: name })];
    }
    return open;
  };
}

/** Members that no other keyword describes: fit for a schema of their own, or unknown. */
function additional(reading: Reading, keyword: string, schema: JsonObject): Test {
  const known = named(schema["properties"] ?? {}).map(([name]) => name);
  const patterns = named(schema["patternProperties"] ?? {}).map(([pattern]) => patternTest(reading, pattern));
  const other = schema[keyword] === false ? undefined : reading.read(reading, schema[keyword]);
  if (other === fits) return fits;
  const names = new Set(known);
  const allowed = [...known.slice(0, namedFieldLimit), ...(schema["patternProperties"] === undefined ? [] : ["..."])];
  const param = keyword === "additionalProperties" ? "additionalProperty" : "unevaluatedProperty";
  return (value) => {
    let open: typeof untold | undefined;
    for (const name of Object.keys(value as object)) {
      reading.pay(1);
      if (names.has(name)) continue;
      const found = patterns.map((matches) => matches(name));
      if (found.includes(true)) continue;
      const wrong =
        other === undefined ? [fault(keyword, { [param]: name, allowed })] : other((value as JsonObject)[name]);
      if (wrong === undefined) continue;
      if (wrong === untold || found.includes(undefined)) open = untold;
      else return other === undefined ? wrong : below(name, wrong);
    }
    return open;
  };
}

function properties(reading: Reading, all: readonly (readonly [string, Test])[]): Test {
  const tests = all.filter(([, test]) => test !== fits);
  return (value) => {
    reading.pay(tests.length);
    let open: typeof untold | undefined;
    for (const [name, test] of tests) {
      const member = memberOf(value, name);
      const wrong = member === undefined ? undefined : test(member);
      if (wrong === undefined) continue;
      if (wrong !== untold) return below(name, wrong);
      open = untold;
    }
    return open;
  };
}

type NamePattern = (text: string) => boolean | undefined;

function patternProperties(reading: Reading, all: readonly (readonly [NamePattern, Test])[]): Test {
  const one = ([matches, test]: readonly [NamePattern, Test]): Test => {
    if (test === fits) return fits;
    return (value) => {
      let open: typeof untold | undefined;
      for (const name of Object.keys(value as object)) {
        reading.pay(1);
        const isMeant = matches(name);
        const wrong = isMeant === false ? undefined : test((value as JsonObject)[name]);
        if (wrong === undefined) continue;
        if (wrong !== untold && isMeant === true) return below(name, wrong);
        open = untold;
      }
      return open;
    };
  };
  return inOrder(all.map(one));
}

/** Names that must be there, and schemas that must fit, where a member is there. */
function dependencies(reading: Reading, keyword: string, all: readonly (readonly [string, unknown])[]): Test {
  const when = (property: string, test: Test): Test =>
    test === fits ? fits : (value) => (memberOf(value, property) === undefined ? undefined : test(value));
  const lists = all.filter(([, needs]) => Array.isArray(needs));
  const schemas = all.filter(([, needs]) => !Array.isArray(needs));
  if ((keyword === "dependentRequired" ? schemas : keyword === "dependentSchemas" ? lists : []).length > 0)
    throw new Malformed();
  const names = lists.map(([property, needs]) => {
    const wanted = texts(needs);
    mustCount(reading, wanted.length);
    return when(property, (value) => {
      reading.pay(wanted.length);
      const missingProperty = wanted.find((name) => memberOf(value, name) === undefined);
      return missingProperty === undefined ? undefined : [fault(keyword, { property, missingProperty })];
    });
  });
  return inOrder([...names, ...schemas.map(([property, inner]) => when(property, reading.read(reading, inner)))]);
}

/** Inherited names are no members. */
function memberOf(value: unknown, name: string): unknown {
  return Object.hasOwn(value as object, name) ? (value as JsonObject)[name] : undefined;
}
