import { isJsonObject } from "../../kernel/text/json-bytes.ts";

/** Deeper schemas are not looked into. */
const deepest = 64;

/**
 * Names of members that a JSON Schema marks as secret at any depth: with `writeOnly: true`, `format: "password"` or
 * `x-secret: true`, on the member itself, on what it refers to, or on its items. A name that is marked in one place is
 * secret everywhere, so that no choice between alternatives has to be understood.
 */
export function secretMembers(schema: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  /** Schemas refer to themselves, and to one thing many times: each part is looked at once. */
  const known = new Map<unknown, boolean>();

  /** Whether what the schema describes is itself a secret. */
  function look(part: unknown, depth: number): boolean {
    if (Array.isArray(part)) return part.map((each) => look(each, depth + 1)).some(Boolean);
    if (!isJsonObject(part) || depth > deepest) return false;
    const before = known.get(part);
    if (before !== undefined) return before;
    known.set(part, false);
    let isSecret = part["writeOnly"] === true || part["format"] === "password" || part["x-secret"] === true;
    for (const keyword of sameValue) if (keyword in part) isSecret = look(part[keyword], depth + 1) || isSecret;
    const reference = part["$ref"];
    if (typeof reference === "string") isSecret = look(referenced(schema, reference), depth + 1) || isSecret;
    for (const keyword of ownNames) {
      for (const [name, member] of entriesOf(part[keyword])) if (look(member, depth + 1)) names.add(name);
    }
    for (const keyword of otherNames) {
      for (const [, member] of entriesOf(part[keyword])) isSecret = look(member, depth + 1) || isSecret;
    }
    known.set(part, isSecret);
    return isSecret;
  }

  look(schema, 0);
  return names;
}

/** Keywords whose schemas describe the same value, or values in it that have no names of their own. */
const sameValue = ["allOf", "anyOf", "oneOf", "then", "else", "items", "prefixItems", "additionalProperties"] as const;
const ownNames = ["properties", "dependentSchemas"] as const;
const otherNames = ["patternProperties"] as const;

function entriesOf(value: unknown): readonly [string, unknown][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

/** What a reference within the schema means (`#/$defs/Login`). */
function referenced(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let found = root;
  for (const step of reference.slice(2).split("/")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
