import { hashToken } from "../../src/people/identity/token.ts";

/** What somebody's requests carry who is configured by `member` or `admin`. */
export const as = (name: string): Readonly<Record<string, string>> => ({ authorization: `Bearer token-of-${name}` });

const person = (name: string, role: string) => ({ tokenHash: hashToken(`token-of-${name}`), roles: [role] });

/** Entries of `principals`. */
export const member = (name: string) => person(name, "member");
export const admin = (name: string) => person(name, "admin");

/** Two people, and the one who may see what both do. */
export const knownPeople = { alice: member("alice"), bob: member("bob"), root: admin("root") };
