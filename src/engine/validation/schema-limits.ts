import type { JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * Limits of a schema and its checks. Beyond any of them a tool goes unchecked; a call is never refused because of
 * one.
 */
export interface ValidationLimits {
  /** JSON text of one schema, about. The largest of 1,478 real tools has 60 KB. */
  readonly schemaBytes: number;
  /** Validators that are kept. Those that are not used are dropped first. */
  readonly validators: number;
  /** Memory of all validators, because a few large ones take as much as a thousand small ones. */
  readonly totalBytes: number;
  /** Time for one check on the main thread, after which the value counts as unchecked. */
  readonly checkMs: number;
}

export const defaultValidationLimits: ValidationLimits = Object.freeze({
  schemaBytes: 256 * 1024,
  validators: 2_000,
  totalBytes: 16 * 1024 * 1024,
  checkMs: 15,
});

/** Levels of JSON, of which one schema within another takes two. Larger messages do not come in. */
const depthLimit = 256;

/**
 * About as many bytes as the schema has as JSON. Undefined when it is larger than the limit, or deeper. Stops there:
 * JSON.stringify would take 100 ms for a 16 MB schema, and throws at 5,000 levels.
 */
export function measureSchema(schema: JsonObject, sizeLimit: number): number | undefined {
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
  return visit(schema, 0) ? size : undefined;
}
