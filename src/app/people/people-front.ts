import { scopes } from "../../engine/policy/scopes.ts";
import { usualScopes } from "../../front/http/challenge.ts";
import { createClientAddress } from "../../front/http/guards/client-address.ts";
import type { RestHandler } from "../../front/http/http-server.ts";
import { createAccountPages } from "../../front/web/pages/account-page.ts";
import { createConnectPage, type ConnectPageDeps } from "../../front/web/pages/connect-page.ts";
import { createInvitePage, type InvitePageDeps } from "../../front/web/pages/invite-page.ts";
import { createConsentPage } from "../../front/web/pages/consent-page.ts";
import { createDevicePages } from "../../front/web/pages/device-pages.ts";
import { createForms } from "../../front/web/pages/forms.ts";
import { createLoginPages } from "../../front/web/pages/login-pages.ts";
import { createPeopleSite } from "../../front/web/people-site.ts";
import { createProviderPages } from "../../front/web/pages/provider-pages.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isServerSlug } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import {
  createAuthorizationServer,
  type AuthorizationServer,
} from "../../people/authorization-server/oauth/oauth-server.ts";
import { createInvitedAccounts } from "../../people/authorization-server/invited-accounts.ts";
import { createDocumentFetch } from "../../people/authorization-server/oauth/client-documents.ts";
import { loadLibrary } from "../../people/authorization-server/oauth/library.ts";
import type { AssertionRules } from "../../people/authorization-server/oauth/assertion-grant.ts";
import type { CheckAssertion } from "../../people/identity/assertions.ts";
import { createSealing, type Sealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import { createLinkedAccounts } from "../../people/sign-in/linked-accounts.ts";
import { causesText } from "../../people/sign-in/provider-errors.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { openProviderLogins } from "./provider-wiring.ts";
import { createPersonServers } from "./person-servers.ts";
import type { TeamPeople } from "./team-people.ts";

/** Pages for people and OAuth for their apps, loaded at the first request for one of them. */
export async function loadPeopleFront(gateway: GatewayParts): Promise<RestHandler> {
  const { log, clock } = gateway;
  const people = gateway.team?.people();
  if (people === undefined) throw new GatewayError("STORE_UNAVAILABLE", "the people are not read yet");
  const sealing = createSealing(people.access.store.key);
  const { directory, changes } = people;
  const { accounts, sessions, users, store, change } = people.access;
  const servers = createPersonServers(gateway, people);
  const forms = createForms(sealing.blind, (session) => sessions.find(session) !== undefined);
  const providers = () =>
    Object.entries(gateway.config().settings.auth.providers).map(([name, { title = name }]) => ({ name, title }));
  // Without any other way in, passwords stay: a setting locks no one out.
  const hasPasswords = (): boolean => gateway.config().settings.auth.passwords || providers().length === 0;
  if (!hasPasswords() !== !gateway.config().settings.auth.passwords)
    log.warn(
      { component: "people" },
      "auth.passwords is false, and there is no identity provider: passwords still work",
    );
  const isNew = (): boolean => directory.book.users.size === 0;
  const logins = openOnce(async () => await openProviderLogins({ gateway, people, sealing, clock }));
  const oauth = openOnce(async () => await openServer({ gateway, people, sealing, log, clock }));
  return createPeopleSite({
    login: createLoginPages({
      accounts,
      forms,
      isNew,
      providers,
      hasPasswords,
    }),
    account: createAccountPages({
      accounts,
      linked: createLinkedAccounts({
        ...{ store, change, sessions, directory, hasPasswords },
        issuers: () => Object.values(gateway.config().settings.auth.providers).map(({ issuer }) => issuer),
      }),
      sessions,
      directory,
      tokens: changes,
      revokeApp: async ({ user, ip }, id) =>
        await users.revokeApp({ id: user.name, via: "browser", ip, user: user.id, isAdmin: false }, id, user.id),
      forms,
      providers,
      hasPasswords,
      serversOf: servers.of,
      endSessionUrl: async (issuer, redirectUri) =>
        providers().length === 0 || issuer === "password"
          ? undefined
          : await (await logins()).endSessionUrl(issuer, redirectUri),
    }),
    consent: createConsentPage({ oauth, forms, directory }),
    elsewhere: createProviderPages({
      logins,
      forms,
      titleOf: (name) => providers().find((one) => one.name === name)?.title,
      ...{ isName: isServerSlug, isNew },
      confirm: async ({ session, ip }, old) => {
        if (hasPasswords()) await accounts.confirm(session, { old, ip });
      },
      report: (failure, provider) =>
        log.warn(
          { component: "people", provider, code: failure.code, why: causesText(failure.cause) },
          failure.message,
        ),
    }),
    ...createOwnPages({ gateway, people, clock }, { servers, forms, hasPasswords }),
    oauth,
    sessions,
    directory,
    publicUrl: gateway.publicUrl,
    addressOf: createClientAddress(() => gateway.config().settings),
    reportFailure: (failure) =>
      log.error({ component: "people", err: failure.cause ?? failure }, "a page for people failed"),
  });
}

/** What people do for themselves: logging in at servers, and joining teams. */
function createOwnPages(
  { gateway, people, clock }: Pick<ServerParts, "gateway" | "people" | "clock">,
  { servers, forms, hasPasswords }: Pick<ConnectPageDeps, "servers" | "forms"> & Pick<InvitePageDeps, "hasPasswords">,
) {
  const { directory, changes } = people;
  const { passwords, sessions } = people.access;
  return {
    connect: createConnectPage({
      servers,
      forms,
      onDenied: ({ user, ip }, object) =>
        gateway.audit.deny({ actor: user.name, via: "browser", action: "connect", object, ip, outcome: "denied" }),
    }),
    invite: createInvitePage({
      invited: createInvitedAccounts({ changes, directory, passwords, sessions, clock }),
      forms,
      hasPasswords,
    }),
  };
}

/** What could not be opened is tried again at the next request. */
function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opening: Promise<T> | undefined;
  return async () => {
    opening ??= open();
    return await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
  };
}

interface ServerParts {
  readonly gateway: GatewayParts;
  readonly people: TeamPeople;
  readonly sealing: Sealing;
  readonly log: Log;
  readonly clock: Clock;
}

async function openServer({ gateway, people, sealing, log, clock }: ServerParts): Promise<AuthorizationServer> {
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
    pages: createDevicePages(),
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
      const load = async () => await import("../../people/identity/assertions.ts");
      check ??= (await late.load("the check of assertions", load)).createAssertionCheck(issuers, clock);
      return await check(assertion);
    },
  };
}
