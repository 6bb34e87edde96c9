import type { IncomingMessage } from "node:http";
import type { Principal } from "../../kernel/principal.ts";
import type { BrowserSession, BrowserSessions } from "../../people/identity/browser-sessions.ts";
import type { LoginCodes } from "../../people/identity/login-codes.ts";

/** Who logs in at the dashboard, and who is logged in there. */
export interface Browsers {
  readonly sessions: BrowserSessions;
  readonly codes: Pick<LoginCodes, "use">;
  /** The session of a request, if it is one of the dashboard. Throws UNAUTHORIZED and FORBIDDEN. */
  sessionOf(request: IncomingMessage): BrowserSession | undefined;
  /** Whose it is, as that person is now. Rejects with UNAUTHORIZED when the token was taken back. */
  principalOf(session: Pick<BrowserSession, "tokenHash">): Promise<Principal>;
}
