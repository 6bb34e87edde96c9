import { createHash } from "node:crypto";

/** What every client takes as a name (docs/design.md, "Names"). */
const allowed = /^[A-Za-z0-9_-]{1,64}$/;
const longest = 64;

/**
 * A name that clients take: the text itself when it fits, otherwise with other characters replaced, cut, and a short
 * hash.
 */
export function toClientName(text: string, identity: string): string {
  return allowed.test(text) ? text : withHash(text, identity, 8);
}

/**
 * The same with a hash in any case: for names that two tools would share. `digits` grows when even that meets another
 * name.
 */
export function withHash(text: string, identity: string, digits: number): string {
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, digits);
  const safe = text.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, longest - digits - 1);
  return `${safe}_${hash}`;
}
