import { createHash } from "node:crypto";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { isStronger, strongestOf, toolEffects, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { namedEffect, withAnnotations } from "../model/effects.ts";

/**
 * SHA-256 of what a definition means: without the order of members, `$schema`, runs of white space in descriptions,
 * and an `additionalProperties` that is true or false. All texts count.
 */
export function meaningOf(definition: ToolDefinition): string {
  return createHash("sha256")
    .update(stringifyExact(toMeaning(definition, "")))
    .digest("hex");
}

/** Texts that people read. In others, as in `const`, white space is part of a value. */
const prose: ReadonlySet<string> = new Set(["description", "title"]);

function toMeaning(value: unknown, name: string): unknown {
  if (typeof value === "string") return prose.has(name) ? value.replace(/[ \t\r\n]+/g, " ") : value;
  if (Array.isArray(value)) return value.map((item) => toMeaning(item, ""));
  if (!isPlain(value)) return value;
  return Object.entries(value)
    .filter(([key, member]) => !isWithoutMeaning(key, member))
    .map(([key, member]) => [key, toMeaning(member, key)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isWithoutMeaning(key: string, member: unknown): boolean {
  if (key === "$schema") return typeof member === "string";
  return key === "additionalProperties" && typeof member === "boolean";
}

/** What of a definition can become worse. Kept, so that a definition can be compared when its text is not kept. */
export interface DefinitionFacts {
  readonly effect: ToolEffect;
  /** Whether its server says that it only reads. */
  readonly readsOnly: boolean;
  /** Required parameters, with those around them: `["options", "options.path"]`. Sorted. */
  readonly required: readonly string[];
}

export function factsOf(name: string, definition: ToolDefinition): DefinitionFacts {
  const named = namedEffect(name, definition);
  const strongest = strongestOf(
    named.choices.map(({ strongest: worst }) => worst),
    named.effect,
  );
  return {
    effect: withAnnotations(strongest, definition, "raise"),
    readsOnly: definition.annotations?.readOnlyHint === true,
    required: requiredIn(definition.inputSchema),
  };
}

/** As they were kept; undefined for anything else. */
export function parseFacts(value: unknown): DefinitionFacts | undefined {
  if (!isPlain(value)) return undefined;
  const { effect, readsOnly, required } = value;
  const known = toolEffects.find((one) => one === effect);
  if (known === undefined || typeof readsOnly !== "boolean" || !Array.isArray(required)) return undefined;
  return { effect: known, readsOnly, required: required.filter((one) => typeof one === "string") };
}

const mostRequired = 500;
const longestPath = 200;

function requiredIn(schema: unknown): readonly string[] {
  const found = new Set<string>();
  const waiting: { readonly schema: unknown; readonly path: string }[] = [{ schema, path: "" }];
  for (let next = waiting.pop(); next !== undefined && found.size < mostRequired; next = waiting.pop()) {
    if (!isPlain(next.schema)) continue;
    const { required, properties } = next.schema;
    const within = (name: string): string => `${next.path}${next.path === "" ? "" : "."}${name}`.slice(0, longestPath);
    for (const name of Array.isArray(required) ? (required as readonly unknown[]) : [])
      if (typeof name === "string") found.add(within(name));
    for (const [name, member] of isPlain(properties) ? Object.entries(properties) : [])
      waiting.push({ schema: member, path: within(name) });
  }
  return [...found].toSorted();
}

/** Why a definition is worse than the one before it, in words that follow its name; none where it is not. */
export function worseThan(before: DefinitionFacts, after: DefinitionFacts): readonly string[] {
  const reasons: string[] = [];
  if (isStronger(after.effect, before.effect))
    reasons.push(`its effect is \`${after.effect}\`, and was \`${before.effect}\``);
  if (before.readsOnly && !after.readsOnly) reasons.push("its server does not say any more that it only reads");
  const known = new Set(before.required);
  const added = after.required.filter((name) => !known.has(name));
  if (added.length > 0) reasons.push(`it requires ${quoted(added)}, which it did not`);
  return reasons;
}

function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => JSON.stringify(name.slice(0, 60)));
  return shown.join(", ") + (names.length > shown.length ? ` and ${names.length - shown.length} more` : "");
}
