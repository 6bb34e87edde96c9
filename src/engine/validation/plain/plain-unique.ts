import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { isOfType, NotPlain, readTypes } from "./plain-keywords.ts";
import { fault, type PlainTest, type Reading } from "./plain-reading.ts";
import { equal } from "../runtime.ts";

/**
 * `uniqueItems`. As Ajv has it, items that can only be texts, numbers and the like are found by what they are, and only
 * those of the right type are compared, because the others are complained of as items.
 */
export function uniqueItems(reading: Reading, { uniqueItems: wanted, items }: JsonObject): PlainTest | undefined {
  if (typeof wanted !== "boolean") throw new NotPlain();
  if (!wanted) return undefined;
  const types = isJsonObject(items) ? readTypes(items["type"]) : [];
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
