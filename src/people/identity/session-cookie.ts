import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

const form = /^[A-Za-z0-9_-]{43}$/;

/**
 * The name of the cookie of a browser that is logged in. With the prefix, browsers keep it from other hosts and from
 * plain http; without TLS, which is for this machine only, not all of them take it.
 */
export function sessionCookieName(isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}ty_session`;
}

/** The cookies of a request. Of two with the same name the first counts, as browsers order them. */
export function readCookie(request: Pick<IncomingMessage, "headers">, name: string): string | undefined {
  for (const part of request.headers.cookie?.split(";", 50) ?? []) {
    const at = part.indexOf("=");
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The SHA-256 of the session in a request, in 64 hex digits; undefined where there is nothing like one. */
export function sessionHashOf(request: Pick<IncomingMessage, "headers">, isSecure: boolean): string | undefined {
  const value = readCookie(request, sessionCookieName(isSecure));
  return value !== undefined && form.test(value) ? createHash("sha256").update(value).digest("hex") : undefined;
}
