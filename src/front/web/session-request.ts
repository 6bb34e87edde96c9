import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { BrowserSession, BrowserSessions } from "../../people/identity/browser-sessions.ts";

/**
 * The key of a browser's session. A page of another site cannot send this header: it is not among those that CORS
 * allows.
 */
export const keyHeader = "toolyard-key";
/** As long as a session may last at most, in seconds. */
const cookieAgeS = 7 * 24 * 3_600;
const longestSecret = 100;

/** Whether a request means to be one of a browser that is logged in. */
export function isFromDashboard(request: Pick<IncomingMessage, "headers">): boolean {
  return request.headers[keyHeader] !== undefined;
}

/**
 * The session of a request: its cookie and its key belong together, and a page of this very origin has sent it. Throws
 * UNAUTHORIZED and FORBIDDEN.
 *
 * @param name of its cookie
 */
export function readSession(
  request: IncomingMessage,
  name: string,
  sessions: Pick<BrowserSessions, "find">,
): BrowserSession {
  refuseOtherPages(request);
  const key = request.headers[keyHeader];
  const cookie = readCookie(request, name);
  const isWhole = typeof key === "string" && key.length <= longestSecret && cookie !== undefined;
  const session = isWhole ? sessions.find(cookie, key) : undefined;
  if (session !== undefined) return session;
  throw new GatewayError("UNAUTHORIZED", "this browser is not logged in, or not any more", {
    hint: "`toolyard open` makes a link that logs it in.",
  });
}

/**
 * Throws FORBIDDEN for a request that a page of another origin caused, also one of another port of this machine, which
 * is sent the cookie. Origins that are allowed to call the gateway are not allowed to be its dashboard.
 */
export function refuseOtherPages({ headers }: Pick<IncomingMessage, "headers">): void {
  const site = headers["sec-fetch-site"];
  const { origin, host = "" } = headers;
  const isOwn = origin === undefined || origin.toLowerCase().replace(/^https?:\/\//, "") === host.toLowerCase();
  if ((site === undefined || site === "same-origin") && isOwn) return;
  throw new GatewayError("FORBIDDEN", "only the dashboard's own pages may do that", {
    hint: "Open the dashboard itself: `toolyard open`.",
  });
}

/**
 * Throws FORBIDDEN where a session would travel over a network that anybody can listen to: beyond this machine the
 * dashboard needs https.
 */
export function refusePlainNetwork(request: IncomingMessage, publicUrl: string): void {
  if (new URL(publicUrl).protocol === "https:" || isLoopback(request)) return;
  throw new GatewayError("FORBIDDEN", "the dashboard is not served over http beyond this machine", {
    hint: "Put https in front of the gateway and set toolyard.publicUrl, or use `ssh -L`.",
  });
}

/** Whether the sender is a program of this machine, which may be a proxy. */
export function isLoopback({ socket }: Pick<IncomingMessage, "socket">): boolean {
  return /^(?:::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
}

/** `__Host-`: set by this very host, for all of its paths, and sent over connections that browsers take for safe. */
export function toCookie(name: string, value: string): string {
  return `${name}=${value}; Path=/; Max-Age=${cookieAgeS}; Secure; HttpOnly; SameSite=Strict`;
}

/** Has the browser forget it. */
export function toEndedCookie(name: string): string {
  return `${name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;
}

/** With the port, because the cookies of all ports of a host are in one jar. */
export function cookieNameAt(port: number): string {
  return `__Host-toolyard-${port}`;
}

function readCookie(request: IncomingMessage, name: string): string | undefined {
  const start = `${name}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const found = pairs.filter((pair) => pair.startsWith(start));
  // Of two of the same name, it is unknown which one is ours.
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  const value = only.slice(start.length);
  return value.length <= longestSecret ? value : undefined;
}
