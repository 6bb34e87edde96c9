import { hash as hashOf } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
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
const scheme = /^Bearer /i;
const schemeLength = "Bearer ".length;
const tokenText = /^[\x21-\x7e]+$/;

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
  const credentials = createShownCredentials();
  const isMeantFor = ({ audience }: Principal, request: IncomingMessage): boolean =>
    audience === undefined || doors.isMeantFor(audience, request);

  /** Where no credential is needed, one of a profile still says that only this is wanted. */
  const narrowed = (request: IncomingMessage): Principal | undefined => {
    const shown = credentials.of(request, longestToken);
    return shown && directory.byToken(shown.hash);
  };

  return {
    get open() {
      return directory.open;
    },
    authenticate(request) {
      if (directory.open) return (directory.narrows === true ? narrowed(request) : undefined) ?? localPrincipal;
      const shown = credentials.of(request, directory.foreign === undefined ? longestToken : longestForeign);
      if (shown === undefined) {
        const browsing = request.headers.authorization === undefined ? doors.bySession(request) : undefined;
        if (browsing !== undefined) return browsing;
        throw unauthorized();
      }
      const { token, hash } = shown;
      const known = directory.byToken(hash);
      if (known !== undefined) {
        if (isMeantFor(known, request)) return known;
        throw unauthorized();
      }
      if (directory.elsewhere === undefined && directory.foreign === undefined) throw unauthorized();
      // Only here: looking at every character of a known token takes as long as hashing it.
      if (!tokenText.test(token)) throw unauthorized();
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
export function readBearer(request: IncomingMessage): string | undefined {
  const authorization = findAuthorization(request, longestToken);
  const token = authorization === undefined ? undefined : tokenOf(authorization);
  return token !== undefined && tokenText.test(token) ? token : undefined;
}

/** What a request shows, as it is looked up. */
interface ShownCredential {
  readonly authorization: string;
  readonly token: string;
  readonly hash: string;
}

/**
 * Tokens with their hashes. Most requests of a connection bring the same header as the one before them, and hashing it
 * is the dearest part of letting somebody in. Only the hash is remembered, never who it is, and for no longer than the
 * connection lives.
 */
function createShownCredentials() {
  const last = new WeakMap<object, ShownCredential>();
  return {
    of(request: IncomingMessage, longest: number): ShownCredential | undefined {
      const authorization = findAuthorization(request, longest);
      if (authorization === undefined) return undefined;
      const before = last.get(request.socket);
      if (before?.authorization === authorization) return before;
      const token = tokenOf(authorization);
      if (token === undefined) return undefined;
      // In one go: half of what a Hash object takes.
      const shown = { authorization, token, hash: hashOf("sha256", token, "hex") };
      last.set(request.socket, shown);
      return shown;
    },
  };
}

/** The header, where there is exactly one. */
function findAuthorization({ headers, rawHeaders }: IncomingMessage, longest: number): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined || authorization.length > longest || countAuthorizations(rawHeaders) !== 1)
    return undefined;
  return authorization;
}

/** The token behind the scheme, with whatever characters a header can have. */
function tokenOf(authorization: string): string | undefined {
  return scheme.test(authorization) ? authorization.slice(schemeLength) : undefined;
}

const authorizationLength = "authorization".length;

function countAuthorizations(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    // Most names are told apart by their length, which makes no text.
    if (name?.length === authorizationLength && name.toLowerCase() === "authorization") count += 1;
  }
  return count;
}
