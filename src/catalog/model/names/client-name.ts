import { createHash } from "node:crypto";

/** Names that every client accepts (docs/design.md, "Names"). */
const allowed = /^[A-Za-z0-9_-]{1,64}$/;
const longest = 64;

/**
 * A name that clients accept: the text itself when it qualifies, otherwise with other characters replaced, cut, and
 * with a short hash.
 */
export function toClientName(text: string, identity: string): string {
  return allowed.test(text) ? text : withHash(text, identity, 8);
}

/**
 * The same, always with a hash: for names that two tools would share. `digits` grows when even the hashed name is
 * taken.
 */
export function withHash(text: string, identity: string, digits: number): string {
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, digits);
  const safe = text.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, longest - digits - 1);
  return `${safe}_${hash}`;
}
