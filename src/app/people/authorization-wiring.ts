import { scopes } from "../../engine/policy/scopes.ts";
import { usualScopes } from "../../front/http/challenge.ts";
import { createDevicePages } from "../../front/web/pages/device-pages.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import {
  createAuthorizationServer,
  type AuthorizationServer,
} from "../../people/authorization-server/oauth/oauth-server.ts";
import { createDocumentFetch } from "../../people/authorization-server/oauth/client-documents.ts";
import { loadLibrary } from "../../people/authorization-server/oauth/library.ts";
import type { AssertionRules } from "../../people/authorization-server/oauth/assertion-grant.ts";
import type { CheckAssertion } from "../../people/identity/trusted-issuers.ts";
import type { Sealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import type { TeamPeople } from "./team-people.ts";

export interface ServerParts {
  readonly gateway: GatewayParts;
  readonly people: TeamPeople;
  readonly sealing: Sealing;
  readonly log: Log;
  readonly clock: Clock;
}

/** Our authorization server, with a library that is loaded at the first request for it. */
export async function openServer({ gateway, people, sealing, log, clock }: ServerParts): Promise<AuthorizationServer> {
  if (gateway.config().settings.auth.external !== undefined)
    throw new GatewayError("LOGIN_ELSEWHERE", "this gateway is not an authorization server: it has another one");
  const library = await gateway.late.load("the authorization server", loadLibrary);
  return createAuthorizationServer({
    library,
    store: people.access.store,
    change: people.access.change,
    directory: people.directory,
    sealing,
    fetchDocument: gateway.config().settings.auth.clientDocuments ? createDocumentFetch(clock) : undefined,
    pages: createDevicePages({ sessions: people.access.sessions, directory: people.directory }),
    clock,
    scopes,
    usualScopes,
    assertions: toAssertionRules(gateway, clock),
    isResourcePath: (path) => path === "/api" || gateway.mcp.endpointOf(path) !== undefined,
    settings() {
      const { accessTokenSeconds, refreshOverlapSeconds } = gateway.config().settings.auth;
      return { accessTokenSeconds, refreshOverlapMs: refreshOverlapSeconds * 1_000 };
    },
    onError: (error) => log.error({ component: "people", err: error }, "the authorization server failed"),
  });
}

/** What identity providers say of people, with code that is loaded at the first assertion. */
function toAssertionRules({ config, late }: GatewayParts, clock: Clock): AssertionRules | undefined {
  const { assertions } = config().settings.auth;
  if (assertions === undefined) return undefined;
  const { issuers, teamClaim } = assertions;
  let check: CheckAssertion | undefined;
  return {
    teamClaim,
    async check(assertion) {
      const load = async () => await import("../../people/identity/trusted-issuers.ts");
      check ??= (await late.load("the check of assertions", load)).createAssertionCheck(issuers, clock);
      return await check(assertion);
    },
  };
}
