import { createClientPage } from "../../front/web/pages/client-page.ts";
import { createClientAddress } from "../../front/http/public-url.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";
import type { RestHandler } from "../../front/http/http-server.ts";
import { createAccountPages } from "../../front/web/pages/account-page.ts";
import { createConnectPage, type ConnectPageDeps } from "../../front/web/pages/connect-page.ts";
import { createInvitePage, type InvitePageDeps } from "../../front/web/pages/invite-page.ts";
import { createConsentPage } from "../../front/web/pages/consent-page.ts";
import { createForms } from "../../front/web/pages/forms.ts";
import { createLoginPages } from "../../front/web/pages/login-pages.ts";
import { createPeopleSite } from "../../front/web/people-site.ts";
import { createProviderPages } from "../../front/web/pages/provider-pages.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isServerSlug } from "../../kernel/ids.ts";
import { createInvitedAccounts } from "../../people/authorization-server/invited-accounts.ts";
import { createSealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import { createLinkedAccounts } from "../../people/sign-in/linked-accounts.ts";
import { causesText } from "../../people/sign-in/provider-errors.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { openServer, type ServerParts } from "./authorization-wiring.ts";
import { openProviderLogins } from "./provider-wiring.ts";
import { createPersonServers } from "./person-servers.ts";

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
      directory,
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
      directory,
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
    client: createClientPage({ forms, directory, tokens: changes, serversOf: servers.of }),
    invite: createInvitePage({
      invited: createInvitedAccounts({ changes, directory, passwords, sessions, clock }),
      forms,
      hasPasswords,
    }),
  };
}
