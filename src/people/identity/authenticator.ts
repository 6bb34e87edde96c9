import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { Directory } from "../directory/directory.ts";
import type { LookUp } from "./look-ups.ts";

/** Turns a credential into a principal. */
export interface Authenticator {
  /**
   * Who sent the request: at once when that person is at hand, otherwise once the directory has answered. Throws, or
   * rejects with, UNAUTHORIZED, which says nothing of why; a promise also rejects with whatever {@link LookUp} tells
   * of.
   */
  authenticate(request: IncomingMessage): Principal | Promise<Principal>;
  /** Whether everybody who reaches the gateway is the one local principal. */
  readonly open: boolean;
}

/** Longer ones are nobody's token: they are not even hashed. */
const longestToken = 4_096;
/** The scheme in any case (RFC 9110, section 11.1), one space, and the token, which is compared exactly. */
const bearer = /^Bearer ([\x21-\x7e]+)$/i;

export function createAuthenticator(directory: Directory, lookUp: LookUp): Authenticator {
  return {
    get open() {
      return directory.open;
    },
    authenticate(request) {
      if (directory.open) return localPrincipal;
      const token = readBearer(request);
      if (token === undefined) throw unauthorized();
      const hash = createHash("sha256").update(token).digest("hex");
      const known = directory.byToken(hash);
      if (known !== undefined) return known;
      const { elsewhere } = directory;
      if (elsewhere === undefined) throw unauthorized();
      return lookUp(request, async (signal) => await elsewhere.byToken(hash, signal), unauthorized);
    },
  };
}

function unauthorized(): GatewayError {
  return new GatewayError("UNAUTHORIZED", "this gateway needs a valid bearer token");
}

/**
 * The bearer token of a request: from exactly one Authorization header (two are an attempt to be read differently by
 * somebody else), never from a query parameter.
 */
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
