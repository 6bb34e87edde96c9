import { createHash, randomBytes } from "node:crypto";

/** A token for a person, shown once; only its hash is kept. */
export interface NewToken {
  readonly token: string;
  /** `sha256:<64 hex digits>`, for the configuration. */
  readonly hash: string;
}

/** 256 random bits: a fast hash is enough, nobody can try them all. */
export function createToken(prefix = "ty_"): NewToken {
  const token = `${prefix}${randomBytes(32).toString("hex")}`;
  return { token, hash: hashToken(token) };
}

export function hashToken(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}
