import type { IncomingMessage, ServerResponse } from "node:http";
import { isOAuthPath, type AuthorizationServer } from "../../people/authorization-server/oauth/oauth-server.ts";
import { interactionPath } from "../../people/authorization-server/oauth/provider.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { toBrowserName } from "../../people/identity/browser-name.ts";
import { prefixOf, requestPath } from "../http/public-url.ts";
import { refuseWithProblem } from "../http/problem.ts";
import type { AccountPages } from "./pages/account-page.ts";
import { connectPath } from "./pages/connect-page.ts";
import { invitePath } from "./pages/invite-page.ts";
import type { LoginPages } from "./pages/login-pages.ts";
import { clientPath, html, nothing, prefixed, writePage } from "./pages/page.ts";
import { findPerson, type PersonLookup, type Visit } from "./visit.ts";

export interface PeopleSiteDeps extends PersonLookup {
  readonly login: LoginPages;
  readonly account: AccountPages;
  readonly consent: (visit: Visit) => Promise<void>;
  readonly connect: (visit: Visit) => Promise<void>;
  readonly client: (visit: Visit) => Promise<void>;
  readonly invite: (visit: Visit) => Promise<void>;
  /** Logging in at an identity provider: the paths below `/auth/oidc/`. */
  readonly elsewhere: (visit: Visit) => Promise<void>;
  readonly oauth: () => Promise<AuthorizationServer>;
  /** The gateway's address as a request reached it. */
  readonly publicUrl: (request: IncomingMessage) => string;
  /** Who asks, where that can be known. */
  readonly addressOf: (request: IncomingMessage) => string | null;
  /** Told of failures of the gateway itself. */
  readonly reportFailure: (failure: GatewayError) => void;
}

/** Pages for people, and OAuth for their apps. */
export function createPeopleSite(deps: PeopleSiteDeps) {
  const { login, account, consent, elsewhere, oauth, sessions, directory } = deps;

  function toVisit(request: IncomingMessage, response: ServerResponse): Visit {
    const base = deps.publicUrl(request);
    const { hash, session, user } = findPerson(request, base, { sessions, directory });
    const query = new URLSearchParams((request.url ?? "").split("?", 2)[1] ?? "");
    const ip = deps.addressOf(request);
    const browser = toBrowserName(request.headers["user-agent"]);
    const path = requestPath(request.url ?? "/");
    return { request, response, base, path, query, ip, browser, hash, session, user };
  }

  const pages: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
    "/auth/login": login.login,
    "/auth/logout": account.logout,
    "/setup": login.setup,
    "/account": account.account,
    [clientPath]: deps.client,
  };

  async function answer(visit: Visit): Promise<void> {
    const { request, response, path, base } = visit;
    if (isOAuthPath(path, prefixOf(base))) return await (await oauth()).handle(request, response, visit);
    if (!["GET", "HEAD", "POST"].includes(request.method ?? ""))
      throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "a page is read with GET, and a form sent with POST");
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page !== undefined) return await page(visit);
    if (path.startsWith(interactionPath)) return await consent(visit);
    if (path.startsWith(connectPath)) return await deps.connect(visit);
    if (path.startsWith(invitePath)) return await deps.invite(visit);
    if (path.startsWith("/auth/oidc/")) return await elsewhere(visit);
    throw new GatewayError("ROUTE_UNKNOWN", "there is no such page");
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const visit = toVisit(request, response);
    answer(visit).catch((error: unknown) => {
      const failure = toGatewayError(error);
      if (failure.code === "INTERNAL") deps.reportFailure(failure);
      // Of what apps ask, no page comes of it.
      if (isOAuthPath(visit.path, prefixOf(visit.base))) {
        refuseWithProblem(response, failure);
        request.resume();
        return;
      }
      const { message, hint, row } = failure;
      const said = failure.code === "INTERNAL" ? "Something went wrong here" : message;
      const about = failure.code === "INTERNAL" || hint === "" ? nothing : html`<p>${hint}</p>`;
      writePage(visit, {
        title: "This does not work",
        status: row.http,
        body: html`<p role="alert">${said}.</p>
          ${about}
          <p><a href="${prefixed(visit, "/ui/")}">Open the dashboard</a></p>`,
      });
      request.resume();
    });
  };
}
