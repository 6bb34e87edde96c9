import { stringifyExact } from "./exact-json.ts";

/**
 * JSON text in which every character beyond ASCII is escaped. Such text can be joined in a latin1 string with bytes
 * that were cut out of a peer's message: written as latin1, both arrive unchanged, and node:http sends head and body
 * in one write.
 */
export function asciiJson(value: unknown): string {
  if (typeof value === "string" && plain.test(value)) return `"${value}"`;
  return asciiText(stringifyExact(value));
}

/** The same for JSON that is text already. */
export function asciiText(json: string): string {
  return isAscii(json) ? json : json.replace(beyondAscii, escapeCharacter);
}

/** Printable ASCII without quotes and backslashes, which needs no escaping. Nearly all names and keys match. */
const plain = /^[ !#-[\]-~]{0,100}$/;
const beyondAscii = /[\u007f-\uffff]/g;

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the range is the point
  return /^[\x00-\x7e]*$/.test(text);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
