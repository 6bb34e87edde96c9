import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";

/** Turns a credential into a principal. Throws UNAUTHORIZED, which says nothing of why. */
export interface Authenticator {
  authenticate(request: IncomingMessage): Principal;
  /** Whether everybody who reaches the gateway is the one local principal. */
  readonly open: boolean;
  /**
   * Whether the credential that this principal came with is still good, for the same person with the same team and roles: what one
   * opened that is not must be closed. Asked with the very object that `authenticate` returned, of this authenticator or of one before it.
   */
  isCurrent(principal: Principal): boolean;
  /** One object per person and generation of tokens: handed on to the authenticator of the next configuration. */
  readonly holders: ReadonlyMap<PrincipalId, Holder>;
}

/** Who may come, and with what. */
export interface Holder {
  readonly principal: Principal;
  /** Hexadecimal digits of the SHA-256 of each token. */
  readonly hashes: readonly string[];
}

interface Credential {
  readonly hash: Buffer;
  readonly principal: Principal;
}

/** Longer ones are nobody's token: they are not even hashed. */
const longestToken = 4_096;
const bearer = /^Bearer ([\x21-\x7e]+)$/;

/**
 * `before` is the authenticator of the configuration in force until now: who has lost no token, and is otherwise the same, keeps the
 * same object; for anybody else there is a new one, so that what the old one opened can be told apart and closed.
 */
export function createAuthenticator(config: Config, before?: Authenticator): Authenticator {
  const holders = new Map<PrincipalId, Holder>();
  const enter = (tokenHashes: readonly string[], wanted: Principal): void => {
    const hashes = tokenHashes.map((hash) => hash.replace(/^sha256:/, "").toLowerCase());
    const known = before?.holders.get(wanted.id);
    const stays =
      known !== undefined &&
      isDeepStrictEqual({ ...known.principal }, wanted) &&
      known.hashes.every((hash) => hashes.includes(hash));
    holders.set(wanted.id, { hashes, principal: stays ? known.principal : Object.freeze({ ...wanted }) });
  };
  if (config.settings.auth.tokenHashes.length > 0) enter(config.settings.auth.tokenHashes, { ...localPrincipal });
  for (const { id, team, roles, tokenHashes } of config.people.principals.values())
    enter(tokenHashes, { id, team, roles, scopes: [] });
  const credentials = new Map<string, Credential>();
  for (const { principal, hashes } of holders.values())
    for (const hex of hashes) credentials.set(hex, { hash: Buffer.from(hex, "hex"), principal });
  const open = holders.size === 0;

  return {
    open,
    holders,
    authenticate(request) {
      if (open) return localPrincipal;
      const token = readBearer(request);
      const hash = token === undefined ? undefined : createHash("sha256").update(token).digest();
      const credential = hash === undefined ? undefined : credentials.get(hash.toString("hex"));
      if (hash === undefined || credential === undefined || !timingSafeEqual(hash, credential.hash)) {
        throw new GatewayError("UNAUTHORIZED", "this gateway needs a valid bearer token");
      }
      return credential.principal;
    },
    isCurrent: (principal) =>
      principal === localPrincipal ? open : holders.get(principal.id)?.principal === principal,
  };
}

/** Exactly one Authorization header (two are an attempt to be read differently by somebody else), never a query parameter. */
export function readBearer(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (
    authorization === undefined ||
    authorization.length > longestToken ||
    countAuthorizations(request.rawHeaders) !== 1
  )
    return undefined;
  return bearer.exec(authorization)?.[1];
}

function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === "authorization") count += 1;
  return count;
}
