import { createHash } from "node:crypto";
import type { Transport } from "../config.ts";

/**
 * SHA-256 (hexadecimal) over everything that reaches a server. Equal for equal values, in whatever order the keys
 * were written.
 */
export function hashTransport(transport: Transport, roots?: readonly string[]): string {
  const all = roots === undefined ? transport : { ...transport, roots };
  return createHash("sha256").update(canonicalJson(all), "utf8").digest("hex");
}

/** JSON with sorted keys and without spaces. Arrays keep their order, because arguments are positional. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
