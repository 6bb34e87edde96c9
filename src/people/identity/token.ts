import { createHash, randomBytes } from "node:crypto";

/** A new token for a person. It is shown once; only its hash is stored. */
export interface NewToken {
  readonly token: string;
  /** `sha256:<64 hex digits>`, for the configuration. */
  readonly hash: string;
}

/** Makes a token of 256 random bits. So many cannot be guessed, which is why a fast hash is enough. */
export function createToken(prefix = "ty_"): NewToken {
  const token = `${prefix}${randomBytes(32).toString("hex")}`;
  return { token, hash: hashToken(token) };
}

/** The hash of a token in the form `sha256:<64 hex digits>`. */
export function hashToken(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}
