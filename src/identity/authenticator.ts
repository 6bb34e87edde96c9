import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import { localPrincipal, type Principal } from "../shared/principal.ts";

/** Turns a credential into a principal. Throws UNAUTHORIZED, which says nothing of why. */
export interface Authenticator {
  authenticate(request: IncomingMessage): Principal;
  /** Whether everybody who reaches the gateway is the one local principal. */
  readonly open: boolean;
  /** Whether the principal is still there, with the same team and roles: a stream of one that is not must be closed. */
  isCurrent(principal: Principal): boolean;
}

interface Credential {
  readonly hash: Buffer;
  readonly principal: Principal;
}

/** Longer ones are nobody's token: they are not even hashed. */
const longestToken = 4_096;
const bearer = /^Bearer ([\x21-\x7e]+)$/;

export function createAuthenticator(config: Config): Authenticator {
  const credentials = new Map<string, Credential>();
  const principals = new Map<string, Principal>();
  const enter = (hash: string, principal: Principal): void => {
    const hex = hash.replace(/^sha256:/, "").toLowerCase();
    credentials.set(hex, { hash: Buffer.from(hex, "hex"), principal });
  };
  for (const hash of config.settings.auth.tokenHashes) enter(hash, localPrincipal);
  for (const person of config.people.principals.values()) {
    const principal: Principal = Object.freeze({ id: person.id, team: person.team, roles: person.roles, scopes: [] });
    principals.set(person.id, principal);
    for (const hash of person.tokenHashes) enter(hash, principal);
  }
  const open = credentials.size === 0 && principals.size === 0;
  if (open || config.settings.auth.tokenHashes.length > 0) principals.set(localPrincipal.id, localPrincipal);

  return {
    open,
    authenticate(request) {
      if (open) return localPrincipal;
      const token = readToken(request);
      const hash = token === undefined ? undefined : createHash("sha256").update(token).digest();
      const credential = hash === undefined ? undefined : credentials.get(hash.toString("hex"));
      if (hash === undefined || credential === undefined || !timingSafeEqual(hash, credential.hash)) {
        throw new GatewayError("UNAUTHORIZED", "this gateway needs a valid bearer token");
      }
      return credential.principal;
    },
    isCurrent(principal) {
      const now = principals.get(principal.id);
      return now !== undefined && JSON.stringify(now) === JSON.stringify(principal);
    },
  };
}

/** Exactly one Authorization header (two are an attempt to be read differently by somebody else), never a query parameter. */
function readToken(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization.length > longestToken || countAuthorizations(request.rawHeaders) !== 1) return undefined;
  return bearer.exec(authorization)?.[1];
}

function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === "authorization") count += 1;
  return count;
}
