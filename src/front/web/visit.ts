import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserSessionRow } from "../../store/access-rows.ts";
import type { BrowserSessions } from "../../people/authorization-server/user-sessions.ts";
import type { TeamDirectory } from "../../people/directory/team-directory.ts";
import { sessionHashOf } from "../../people/identity/session-cookie.ts";
import type { UserRow } from "../../store/people-rows.ts";
import type { OpenForm } from "./pages/forms.ts";
import { writePage, type Page, type PagePlace } from "./pages/page.ts";

/** One request of a browser to a page for people, and who sent it. */
export interface Visit extends PagePlace {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly ip: string | null;
  /** As people know it: `Firefox on Linux`. */
  readonly browser: string;
  /** The SHA-256 of the session's cookie, whether or not there is such a session. */
  readonly hash: string | undefined;
  readonly session: BrowserSessionRow | undefined;
  readonly user: UserRow | undefined;
}

export interface PersonLookup {
  readonly sessions: Pick<BrowserSessions, "find">;
  readonly directory: Pick<TeamDirectory, "book">;
}

/** Who is logged in with the browser that a request comes from. `base` is the gateway's address as it reached it. */
export function findPerson(
  request: IncomingMessage,
  base: string,
  { sessions, directory }: PersonLookup,
): Pick<Visit, "hash" | "session" | "user"> {
  const hash = sessionHashOf(request, base.startsWith("https:"));
  const session = sessions.find(hash);
  return { hash, session, user: session === undefined ? undefined : directory.book.users.get(session.userId) };
}

/** Somebody who is logged in. */
export interface KnownVisit extends Visit {
  readonly session: BrowserSessionRow;
  readonly user: UserRow;
}

export function isKnown(visit: Visit): visit is KnownVisit {
  return visit.session !== undefined && visit.user !== undefined;
}

/** Shows a page with forms. */
export function show(visit: PagePlace & Pick<Visit, "response">, form: OpenForm, page: Page): void {
  writePage(visit, {
    ...page,
    headers: { ...page.headers, ...(form.cookies.length === 0 ? {} : { "Set-Cookie": [...form.cookies] }) },
  });
}

const ownPages =
  /^\/(?:oauth\/interaction\/[\w-]+|account|connect|connect\/\w[\w.~%-]*|invite\/[\w-]+|oauth\/device(?:\?user_code=[\w-]*)?)$/;
/** A page of the dashboard with its filters; no fragment, and no way up out of it. */
const dashboardPages = /^(?!.*\/\.{1,2}(?:[/?]|$))\/ui\/[\w\-.~%/]*(?:\?[\w\-.~%/&=+:,;!*()'$@]*)?$/;
const longestNext = 2_000;

/** Where somebody is led after the login: a path of this gateway, and nothing that a browser reads as another host. */
export function safeNext(next: string | null, otherwise: string): string {
  if (next === null || next.length > longestNext) return otherwise;
  return ownPages.test(next) || dashboardPages.test(next) ? next : otherwise;
}

/** Where a login ends that was to lead nowhere else: at the dashboard, which shows something to members of teams. */
export function homeOf({ book }: Pick<TeamDirectory, "book">, userId: string): string {
  return book.membersOf(userId).length > 0 ? "/ui/" : "/account";
}
