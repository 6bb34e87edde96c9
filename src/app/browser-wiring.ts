import type { Clock } from "../kernel/clock.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import { createBrowserSessions } from "../people/identity/browser-sessions.ts";
import type { Browsers } from "../front/web/browsers.ts";
import { isFromDashboard, readSession } from "../front/web/session-request.ts";
import type { LoginCodes } from "../people/identity/login-codes.ts";
import type { BrowserSessionStore } from "../store/store.ts";

export interface BrowsersDeps {
  readonly store: BrowserSessionStore;
  readonly loginCodes: LoginCodes;
  readonly clock: Pick<Clock, "now">;
  /** Whoever owns the data directory. */
  readonly owner: Principal;
  readonly isOpen: () => boolean;
  /** Whom a token with this hash belongs to now. */
  readonly byToken: (hash: string, signal: AbortSignal) => Promise<Principal | undefined>;
}

/** The directory of people may be elsewhere. */
const lookUpMs = 10_000;

export function createBrowsers({ store, loginCodes, clock, owner, isOpen, byToken }: BrowsersDeps): Browsers {
  const sessions = createBrowserSessions({ store, clock });
  return {
    sessions,
    codes: loginCodes,
    sessionOf: (request) => (isFromDashboard(request) ? readSession(request, sessions) : undefined),
    async principalOf({ tokenHash }) {
      // Where everybody is the one local principal, so is whoever sits at the dashboard.
      if (tokenHash === null) return isOpen() ? localPrincipal : owner;
      const person = await byToken(tokenHash, AbortSignal.timeout(lookUpMs));
      if (person !== undefined) return person;
      throw new GatewayError("UNAUTHORIZED", "the token that this browser logged in with is not valid any more", {
        hint: "Log in with another one.",
      });
    },
  };
}
