import * as v from "valibot";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { isRecord, membersOf } from "./check.ts";

/**
 * A value without the members that other programs write where there is nothing: null at any depth; an empty text where
 * the schema has a member; and an empty list or object where the schema has something else (PHP writes `[]` for `{}`).
 * An empty object in place of a list is an empty list (Lua writes that), which for a list of tools is not the same as
 * none. Members under names that the user chooses, as under `env`, may be empty texts. Items of lists stay. Pure.
 */
export function withoutAbsent(schema: v.GenericSchema, value: unknown): unknown {
  const memberOf = membersOf(schema);
  if (!isJsonObject(value)) return value;
  const kept = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    const known = memberOf?.(name);
    if (member === null || (known !== undefined && !isRecord(schema) && isNothing(known, member))) continue;
    kept[name] = known === undefined ? member : isEmptyList(known, member) ? [] : withoutAbsent(known, member);
  }
  return kept;
}

function isNothing(schema: v.GenericSchema, value: unknown): boolean {
  if (value === "") return true;
  if (Array.isArray(value)) return value.length === 0 && (membersOf(schema) !== undefined || !v.is(schema, value));
  return isEmpty(value) && !v.is(schema, value) && !isEmptyList(schema, value);
}

function isEmptyList(schema: v.GenericSchema, value: unknown): boolean {
  return isEmpty(value) && membersOf(schema) === undefined && v.is(schema, []);
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
