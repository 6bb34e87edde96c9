import type { AuditFacts } from "./audit-log.ts";

/** Commands of the owner change the kept logins; a running gateway notices the change, and uses them. */
const facts = {
  login: { actor: "owner", via: "vault", action: "login.add" },
  logout: { actor: "owner", via: "vault", action: "login.remove" },
  use: { actor: "gateway", via: "vault", action: "login.use" },
} as const;

/** Somebody logged in or out at a server, or a login is about to be sent there. */
export function loginFacts(instance: string, what: keyof typeof facts): AuditFacts {
  return { ...facts[what], object: instance };
}
