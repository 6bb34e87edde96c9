import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-expect-error the package has no types
import { Provider } from "oidc-provider";
import type { PageBrowser, SeenPage } from "./page-browser.ts";

/** Somebody who has an account at the provider. */
export interface Account {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** A real identity provider on this machine, at which whoever is named logs in without being asked. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Who logs in next, where nobody is logged in there yet. */
  person: Account;
  /** How long ago, in seconds, whoever logs in next has done so. */
  loginAgeS: number;
  /** Whether it refuses everybody. */
  refuses: boolean;
  /** While it holds, every request is answered with 503. */
  isDown: boolean;
  /** Gateways that may use it, by their addresses; the provider's name there. Begins anew with other keys. */
  serve(clients: readonly { readonly gateway: string; readonly name: string; readonly id: string }[]): void;
  /** Requests for keys. */
  readonly keyRequests: number;
}

export const clientSecret = "the secret of the gateway at the provider";

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Account>();
  // oxlint-disable-next-line typescript/no-explicit-any -- the package has no types
  let provider: any;
  let keyRequests = 0;
  const idp: IdentityProvider = {
    issuer,
    person: { sub: "nobody" },
    loginAgeS: 0,
    refuses: false,
    isDown: false,
    get keyRequests() {
      return keyRequests;
    },
    serve(clients) {
      provider = new Provider(issuer, configurationOf(clients, accounts));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  /** Logs in and consents as `person`. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (idp.refuses) {
      const result = { error: "access_denied", error_description: "not you" };
      return await provider.interactionFinished(request, response, result);
    }
    if (prompt.name === "login") {
      accounts.set(idp.person.sub, idp.person);
      const login = { accountId: idp.person.sub, ts: Math.floor(Date.now() / 1_000) - idp.loginAgeS };
      return await provider.interactionFinished(request, response, { login });
    }
    const { accountId } = session;
    const grant =
      grantId === undefined
        ? new provider.Grant({ accountId, clientId: params.client_id })
        : await provider.Grant.find(grantId);
    grant.addOIDCScope(params.scope);
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  server.on("request", (request, response) => {
    if (request.url?.startsWith("/jwks") === true) keyRequests += 1;
    if (idp.isDown) response.writeHead(503).end("down");
    else if (request.url?.startsWith("/interaction/") === true)
      interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    else provider.callback()(request, response);
  });
  return idp;
}

function configurationOf(
  clients: Parameters<IdentityProvider["serve"]>[0],
  accounts: ReadonlyMap<string, Account>,
): object {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return {
    // Read back, because Node may wait for itself for ever where it exports a key that it has just made.
    jwks: { keys: [{ ...createPrivateKey(privateKey).export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    cookies: { keys: ["of the tests"] },
    clients: clients.map(({ gateway, name, id }) => ({
      client_id: id,
      client_secret: clientSecret,
      redirect_uris: [`${gateway}/auth/oidc/${name}/callback`],
      post_logout_redirect_uris: [`${gateway}/auth/login`],
      backchannel_logout_uri: `${gateway}/auth/oidc/${name}/logout`,
      backchannel_logout_session_required: true,
    })),
    claims: {
      profile: ["preferred_username", "name"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    scopes: ["openid", "profile", "email", "groups"],
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    // Everything about somebody is asked for, as most providers that companies run have it.
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => accounts.get(sub) ?? { sub },
    }),
    pkce: { required: () => true },
    // Its own guard lets it send nothing to this machine.
    fetch: async (url: string, { dispatcher: _guard, ...options }: RequestInit & { readonly dispatcher?: unknown }) =>
      await fetch(url, options),
  };
}

/** Opens the page on the way to a provider, and what stands there. */
export async function goOn(browser: PageBrowser, page: SeenPage): Promise<SeenPage> {
  const [, href] = /<meta http-equiv="refresh" content="0;url=([^"]+)"/.exec(page.text) ?? [];
  if (href === undefined) throw new Error(`this page leads to no provider:\n${page.text}`);
  return await browser.open(href.replaceAll("&#38;", "&"));
}

/** The browser is logged in nowhere but at the gateway. */
export function forgetProvider({ cookies }: PageBrowser): void {
  for (const name of [...cookies.keys()]) if (!name.startsWith("ty_")) cookies.delete(name);
}

/** Logs in with the button of a provider. Ends at the page that people see then. */
export async function logInAt(browser: PageBrowser, gateway: string, name: string): Promise<SeenPage> {
  const page = await browser.submit(
    await browser.open(`${gateway}/auth/login?next=/account`),
    {},
    `/auth/oidc/${name}/start`,
  );
  return await goOn(browser, page);
}
