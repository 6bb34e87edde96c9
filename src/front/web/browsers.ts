import type { IncomingMessage } from "node:http";
import type { Principal } from "../../kernel/principal.ts";
import type { BrowserSession, BrowserSessions } from "../../people/identity/browser-sessions.ts";
import type { LoginCodes } from "../../people/identity/login-codes.ts";

/** Somebody who is logged in at the pages for people (team mode), with one session in all of their teams. */
export interface VisitingPerson {
  /** Of the user. */
  readonly id: string;
  /** Of this session, as lists of sessions name it. */
  readonly session: string;
  readonly name: string;
  readonly startedAtMs: number;
  /** When it ends, unless it is used before. */
  readonly endsAtMs: number;
  /** Ends this session. */
  end(): Promise<void>;
}

/** Who logs in at the dashboard, and who is logged in there. */
export interface Browsers {
  readonly sessions: BrowserSessions;
  readonly codes: Pick<LoginCodes, "use">;
  /** The name of the cookie that a browser has for the session: at all gateways that share it the same. */
  cookieName(request: IncomingMessage): string;
  /** The session of a request, if it is one of the dashboard. Throws UNAUTHORIZED and FORBIDDEN. */
  sessionOf(request: IncomingMessage): BrowserSession | undefined;
  /**
   * Whose it is, as that person is now. Rejects with UNAUTHORIZED when the token was taken back, and when it was given
   * out for a resource that the request is not for: a session opens no more than its token does.
   */
  principalOf(session: Pick<BrowserSession, "tokenHash">, request: IncomingMessage): Promise<Principal>;
  /** Whether people log in at pages of this gateway. */
  readonly hasPeople: boolean;
  /** Who is logged in there with the browser that a request comes from. Asking keeps the session from ending. */
  personOf(request: IncomingMessage): VisitingPerson | undefined;
  /**
   * When the person behind a request logged in with a browser: with a password, at an identity provider, or with a link
   * of `toolyard open`. Undefined for every other credential, also for a browser that was given a token: its holder can
   * give it again at any time.
   */
  loggedInAt(request: IncomingMessage): number | undefined;
}
