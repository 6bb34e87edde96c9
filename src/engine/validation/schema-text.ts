import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { ValidationLimits } from "./schema-limits.ts";

/**
 * The schema as JSON text. Undefined when it is larger or deeper than the limits. Measures before it writes, and
 * stops at the limit: JSON.stringify alone would take 100 ms for a 16 MB schema, and throws at 5,000 levels.
 */
export function schemaText(schema: JsonObject, limits: ValidationLimits): string | undefined {
  if (!fits(schema, limits.schemaBytes, limits.schemaDepth)) return undefined;
  const text = stringifyExact(schema);
  return text.length <= limits.schemaBytes ? text : undefined;
}

function fits(root: unknown, sizeLimit: number, depthLimit: number): boolean {
  let size = 0;
  function visit(value: unknown, depth: number): boolean {
    size += typeof value === "string" ? value.length + 2 : 2;
    if (size > sizeLimit || depth > depthLimit) return false;
    if (typeof value !== "object" || value === null) return true;
    if (Array.isArray(value)) return value.every((item) => visit(item, depth + 1));
    // for-in can stop early. Object.entries would copy a million members before the limit is noticed.
    for (const key in value) {
      size += key.length + 3;
      if (!visit((value as JsonObject)[key], depth + 1)) return false;
    }
    return true;
  }
  return visit(root, 0);
}
