import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserSessionRow } from "../../store/access-rows.ts";
import type { UserRow } from "../../store/people-rows.ts";
import type { OpenForm } from "./pages/forms.ts";
import { writePage, type Page } from "./pages/page.ts";

/** One request of a browser to a page for people, and who sent it. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly base: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly ip: string | null;
  /** The SHA-256 of the session's cookie, whether or not there is such a session. */
  readonly hash: string | undefined;
  readonly session: BrowserSessionRow | undefined;
  readonly user: UserRow | undefined;
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
export function show({ response }: Pick<Visit, "response">, form: OpenForm, page: Page): void {
  writePage(response, {
    ...page,
    headers: { ...page.headers, ...(form.cookies.length === 0 ? {} : { "Set-Cookie": [...form.cookies] }) },
  });
}

const ownPages =
  /^\/(?:oauth\/interaction\/[\w-]+|account|connect\/\w[\w.~%-]*|invite\/[\w-]+|oauth\/device(?:\?user_code=[\w-]*)?)$/;
/** A page of the dashboard with its filters; no fragment, and no way up out of it. */
const dashboardPages = /^(?!.*\/\.{1,2}(?:[/?]|$))\/ui\/[\w\-.~%/]*(?:\?[\w\-.~%/&=+:,;!*()'$@]*)?$/;
const longestNext = 2_000;

/** Where somebody goes after the login: a path of this gateway, and nothing that a browser reads as another host. */
export function safeNext(next: string | null): string {
  if (next === null || next.length > longestNext) return "/account";
  return ownPages.test(next) || dashboardPages.test(next) ? next : "/account";
}
