import { randomBytes } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * An id that cannot be guessed: the prefix and 26 letters and digits, 130 random bits. Ids that people see are made
 * here: one in base64url may begin with `-`, which a command takes for an option.
 */
export function randomId(prefix: string): string {
  return prefix + Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join("");
}
