import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { Directory } from "../directory/directory.ts";
import type { LookUp } from "./look-ups.ts";

/** Determines the principal of a request from its credential. */
export interface Authenticator {
  /**
   * Returns the principal at once when it is known locally, otherwise a promise for the directory's answer. Throws,
   * or rejects with, UNAUTHORIZED, whose text does not say why. A promise can also reject as described at {@link
   * LookUp}.
   */
  authenticate(request: IncomingMessage): Principal | Promise<Principal>;
  /** True when no credentials are required: everybody who reaches the gateway is the local principal. */
  readonly open: boolean;
}

/** Longer values cannot be tokens of ours, and are refused without hashing them. */
const longestToken = 4_096;
/** Authorization servers put groups into their tokens, up to what headers may have. */
const longestForeign = 14_336;
/** The scheme in any case (RFC 9110, section 11.1), one space, and the token, which is compared exactly. */
const bearer = /^Bearer ([\x21-\x7e]+)$/i;

/** Where requests come in that show something else than a token for everything. */
export interface Doors {
  /** Whether a credential that was given out for one resource is used there. */
  isMeantFor(audience: string, request: IncomingMessage): boolean;
  /** Who is logged in with the browser that a request without a token comes from, where that counts. */
  bySession(request: IncomingMessage): Principal | undefined;
}

const closedDoors: Doors = { isMeantFor: () => false, bySession: () => undefined };

/** An authenticator that accepts the bearer tokens of `directory`. */
export function createAuthenticator(directory: Directory, lookUp: LookUp, doors: Doors = closedDoors): Authenticator {
  const isMeantFor = ({ audience }: Principal, request: IncomingMessage): boolean =>
    audience === undefined || doors.isMeantFor(audience, request);

  return {
    get open() {
      return directory.open;
    },
    authenticate(request) {
      if (directory.open) return localPrincipal;
      const token = readBearer(request, directory.foreign === undefined ? longestToken : longestForeign);
      if (token === undefined) {
        const browsing = request.headers.authorization === undefined ? doors.bySession(request) : undefined;
        if (browsing !== undefined) return browsing;
        throw unauthorized();
      }
      const hash = createHash("sha256").update(token).digest("hex");
      const known = directory.byToken(hash);
      if (known !== undefined) {
        if (isMeantFor(known, request)) return known;
        throw unauthorized();
      }
      if (directory.elsewhere === undefined && directory.foreign === undefined) throw unauthorized();
      return lookUp(
        request,
        async (signal) => {
          const found = (await directory.elsewhere?.byToken(hash, signal)) ?? (await directory.foreign?.(token, hash));
          return found !== undefined && isMeantFor(found, request) ? found : undefined;
        },
        unauthorized,
      );
    },
  };
}

function unauthorized(): GatewayError {
  return new GatewayError("UNAUTHORIZED", "this gateway needs a valid bearer token");
}

/**
 * The bearer token of a request. Accepted only from exactly one Authorization header: with two of them, a proxy might
 * read a different one than we do. Never taken from a query parameter.
 */
export function readBearer(request: IncomingMessage, longest = longestToken): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization.length > longest || countAuthorizations(request.rawHeaders) !== 1)
    return undefined;
  return bearer.exec(authorization)?.[1];
}

function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === "authorization") count += 1;
  return count;
}
