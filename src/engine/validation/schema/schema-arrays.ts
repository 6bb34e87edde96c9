import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { equal } from "../runtime.ts";
import type { Fault } from "../wording.ts";
import { filled, isOfType, Malformed, mustLookAlone, numeric, readTypes } from "./schema-keywords.ts";
import { below, exactly, fault, fits, inOrder, untold, type Reading, type Test } from "./schema-reading.ts";

/** The check of one keyword for lists. Throws Malformed. */
export function readArrayKeyword(reading: Reading, keyword: string, schema: JsonObject): Test {
  const given = schema[keyword];
  const { hasItemLists, unknown } = reading.dialect;
  switch (keyword) {
    case "prefixItems":
      return tuple(filled(given).map((each) => reading.read(reading, each)));
    case "items": {
      if (Array.isArray(given) && !hasItemLists) throw new Malformed();
      if (Array.isArray(given)) return tuple(given.map((each) => reading.read(reading, each)));
      return rest(reading, keyword, schema, unknown.has("prefixItems") ? undefined : schema["prefixItems"]);
    }
    case "additionalItems":
      return Array.isArray(schema["items"]) ? rest(reading, keyword, schema, schema["items"]) : fits;
    case "contains":
      return contains(reading, schema);
    case "minContains":
    case "maxContains":
      return fits;
    case "uniqueItems":
      return uniqueItems(reading, schema);
    default:
      if (schema["items"] !== undefined || schema["additionalItems"] !== undefined) return fits;
      mustLookAlone(schema);
      if (schema["contains"] !== undefined) throw new Malformed();
      return rest(reading, keyword, schema, schema["prefixItems"]);
  }
}

function tuple(tests: readonly Test[]): Test {
  return inOrder(
    tests.map((test, index) =>
      test === fits
        ? fits
        : (value) => {
            const list = value as readonly unknown[];
            const wrong = index < list.length ? test(list[index]) : undefined;
            return wrong === undefined || wrong === untold ? wrong : below(String(index), wrong);
          },
    ),
  );
}

/** Elements beyond those that have a place. */
function rest(reading: Reading, keyword: string, schema: JsonObject, places: unknown): Test {
  if (places !== undefined && !Array.isArray(places)) throw new Malformed();
  const limit = places === undefined ? 0 : places.length;
  if (schema[keyword] === false && (places !== undefined || keyword !== "items")) {
    const wrong = [fault(keyword, { limit, len: limit })];
    return (value) => ((value as readonly unknown[]).length <= limit ? undefined : wrong);
  }
  const item = reading.read(reading, schema[keyword]);
  if (item === fits) return fits;
  return (value) => {
    const list = value as readonly unknown[];
    let open: typeof untold | undefined;
    for (let index = limit; index < list.length; index += 1) {
      reading.pay(1);
      const wrong = item(list[index]);
      if (wrong === undefined) continue;
      if (wrong !== untold) return below(String(index), wrong);
      open = untold;
    }
    return open;
  };
}

function contains(reading: Reading, schema: JsonObject): Test {
  const { unknown } = reading.dialect;
  const bound = (name: string, otherwise: number): number =>
    schema[name] !== undefined && !unknown.has(name) ? numeric(schema[name]) : otherwise;
  const min = bound("minContains", 1);
  const max = bound("maxContains", Number.POSITIVE_INFINITY);
  const item = reading.read(exactly(reading), schema["contains"]);
  const own = fault("contains", { minContains: min });
  // Nothing fits this, and Ajv does not look at the items to say so.
  if (min > max) return () => [own];
  return (value) => {
    const all: Fault[] = [];
    let found = 0;
    let open = 0;
    for (const [index, each] of (value as readonly unknown[]).entries()) {
      reading.pay(1);
      const wrong = item(each);
      if (wrong === untold) open += 1;
      else if (wrong !== undefined) all.push(...below(String(index), wrong));
      else if ((found += 1) > max) return [...all, own];
      else if (found >= min && max === Number.POSITIVE_INFINITY) return undefined;
    }
    if (found + open < min) return [...all, own];
    return open > 0 ? untold : undefined;
  };
}

/**
 * As Ajv has it, items that can only be texts, numbers and the like are found by what they are, and only those of the
 * right type are compared, because the others are complained of as items.
 */
function uniqueItems(reading: Reading, { uniqueItems: wanted, items }: JsonObject): Test {
  if (typeof wanted !== "boolean") throw new Malformed();
  if (!wanted) return fits;
  const types = isJsonObject(items) ? readTypes(items) : [];
  const isSimple = types.length > 0 && !types.includes("object") && !types.includes("array");
  const find = isSimple ? sameText(types) : samePair;
  return (value) => {
    const list = value as readonly unknown[];
    reading.pay(2);
    const pair = find(list, reading);
    return pair === undefined ? undefined : [fault("uniqueItems", { i: pair[0], j: pair[1] })];
  };
}

/** Two places with the same item, as Ajv tells them: both ways look from the end. */
type FindSame = (list: readonly unknown[], reading: Reading) => readonly [number, number] | undefined;

function sameText(types: readonly string[]): FindSame {
  const tests = types.map((type) => isOfType[type] as (value: unknown) => boolean);
  return (list, reading) => {
    const places: Record<string, number> = {};
    for (let at = list.length - 1; at >= 0; at -= 1) {
      const item = list[at];
      reading.pay(1);
      if (!tests.some((test) => test(item))) continue;
      // "1" is not 1.
      const key = typeof item === "string" && types.length > 1 ? `${item}_` : String(item);
      const other = places[key];
      if (typeof other === "number") return [at, other];
      places[key] = at;
    }
    return undefined;
  };
}

const samePair: FindSame = (list, { runtime }) => {
  for (let at = list.length - 1; at > 0; at -= 1)
    for (let other = at - 1; other >= 0; other -= 1)
      if (equal(list[at], list[other], runtime.budget)) return [at, other];
  return undefined;
};
