import type { IncomingMessage } from "node:http";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { dashboardPrincipal, localPrincipal } from "../../kernel/principal.ts";
import { createBrowserSessions } from "../../people/identity/browser-sessions.ts";
import { reaches } from "../../people/identity/audience.ts";
import { sessionIdOf } from "../../people/authorization-server/user-access.ts";
import { idleSessionMs } from "../../people/directory/books/access-index.ts";
import { sessionHashOf } from "../../people/identity/session-cookie.ts";
import type { Browsers, VisitingPerson } from "../../front/web/browsers.ts";
import { requestPath } from "../../front/http/public-url.ts";
import { cookieNameAt, isFromDashboard, readSession } from "../../front/web/session-request.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { BrowserSessionStore } from "../../store/store.ts";
import type { GatewayParts } from "../gateway-parts.ts";

type Parts = Pick<
  GatewayParts,
  | "kept"
  | "sharedItems"
  | "directory"
  | "loginCodes"
  | "byToken"
  | "owner"
  | "authenticator"
  | "mcp"
  | "team"
  | "publicUrl"
>;

/** The directory of people may be elsewhere. */
const lookUpMs = 10_000;

/** Reads who is logged in. */
export async function openBrowsers(gateway: Parts): Promise<Browsers> {
  const { loginCodes, byToken, authenticator, mcp } = gateway;
  const sessions = createBrowserSessions({ store: await openSessions(gateway), clock: mcp.parts.clock });
  const cookieName: Browsers["cookieName"] = (request) =>
    cookieNameAt(
      gateway.sharedItems === undefined ? (request.socket.localPort ?? 0) : portOf(gateway.publicUrl(request)),
    );
  const sessionOf: Browsers["sessionOf"] = (request) =>
    isFromDashboard(request) ? readSession(request, cookieName(request), sessions) : undefined;
  const personOf: Browsers["personOf"] = (request) => visitorOf(gateway, request);

  return {
    sessions,
    codes: loginCodes,
    cookieName,
    sessionOf,
    async principalOf({ tokenHash }, request) {
      // Where everybody is the one local principal, so is the person at the dashboard.
      if (tokenHash === null) return authenticator.open ? localPrincipal : dashboardPrincipal;
      const person = await byToken(tokenHash, AbortSignal.timeout(lookUpMs));
      if (person === undefined) throw refuse("is not valid any more");
      const { audience } = person;
      const isMeant =
        audience === undefined || reaches(audience, gateway.publicUrl(request), requestPath(request.url ?? "/"));
      if (!isMeant) throw refuse("was given out for another resource than the API");
      return person;
    },
    hasPeople: gateway.team !== undefined,
    personOf,
    loggedInAt(request) {
      // The same order as where a request's credential is looked for: a cookie beside a token says nothing.
      const session = sessionOf(request);
      if (session !== undefined) return session.tokenHash === null ? session.createdAtMs : undefined;
      return request.headers.authorization === undefined ? personOf(request)?.startedAtMs : undefined;
    },
  };
}

/** Of the one name of all gateways, where each may listen on another. */
function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

async function openSessions({ kept, sharedItems, directory, mcp }: Parts): Promise<BrowserSessionStore> {
  if (sharedItems === undefined) return await kept.browserSessions();
  const teamOf = (person: string | null): string | null => directory.byId(person as PrincipalId)?.team ?? null;
  const open = async () => await kept.browserSessions(async () => ({ items: await sharedItems(), teamOf }));
  return await openLate(open, mcp.parts.clock);
}

/** How long requests wait for the list of browsers; with a database that can be reached it takes milliseconds. */
const patienceMs = 1_000;

/**
 * While the database is away, no browser is logged in, and everybody else is served: those that there are become known
 * when it can be asked.
 */
async function openLate(opening: () => Promise<BrowserSessionStore>, clock: Clock): Promise<BrowserSessionStore> {
  const open = openOnce(opening);
  const listeners: (() => void)[] = [];
  let store: BrowserSessionStore | undefined;

  async function tryOpen(): Promise<void> {
    try {
      store = await open();
      for (const listener of listeners) store.onChange?.(listener);
      for (const listener of listeners) listener();
    } catch (error) {
      // A gateway that ends tries no longer.
      if (toGatewayError(error).code !== "DRAINING") clock.after(patienceMs, () => void tryOpen());
    }
  }

  await Promise.race([tryOpen(), new Promise<void>((resolve) => clock.after(patienceMs, resolve))]);
  return {
    read: () => store?.read() ?? [],
    async write(sessions, change) {
      await (await open()).write(sessions, change);
    },
    onChange(listener) {
      listeners.push(listener);
      const leave = store?.onChange?.(listener);
      return () => {
        listeners.splice(listeners.indexOf(listener), 1);
        leave?.();
      };
    },
  };
}

/** Who is logged in at the pages for people. */
function visitorOf(gateway: Pick<Parts, "team" | "publicUrl">, request: IncomingMessage): VisitingPerson | undefined {
  const people = gateway.team?.people();
  const row = people?.access.sessions.find(sessionHashOf(request, gateway.publicUrl(request).startsWith("https:")));
  const user = row === undefined ? undefined : people?.directory.book.users.get(row.userId);
  if (people === undefined || row === undefined || user === undefined) return undefined;
  const ip = request.socket.remoteAddress ?? null;
  return {
    id: user.id,
    session: sessionIdOf(row),
    name: user.name,
    startedAtMs: row.createdAtMs,
    endsAtMs: Math.min(row.expiresAtMs, row.seenAtMs + idleSessionMs),
    end: async () => await people.access.sessions.end(user, [row.hash], { action: "logout", ip }),
  };
}

function refuse(why: string): GatewayError {
  return new GatewayError("UNAUTHORIZED", `the token that this browser logged in with ${why}`, {
    hint: "Log in with another one.",
  });
}
