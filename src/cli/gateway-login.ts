import { createLoginRoute } from "../app/http-route.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import { isJsonObject } from "../kernel/json-bytes.ts";
import { addressRulesFor, isLoopbackHost } from "../servers/logins/addresses.ts";
import {
  parseCredential,
  serializeCredential,
  type Credential,
  type CredentialStore,
} from "../servers/logins/credential.ts";
import { createOutgoing, type Outgoing } from "../servers/logins/outgoing.ts";
import type { LoginOptions } from "../servers/logins/login-flow.ts";
import { renewTokens, revokeTokens } from "../servers/logins/renew.ts";
import { openDataDirectory, readConfig, storeIn, type CommandContext } from "./command-context.ts";
import { plainText, shorten } from "./plain-text.ts";

/** What a command does for a person there. Whoever wants the terminal to do less says so with `--scope`. */
const usualScopes = "mcp:read mcp:tools:execute mcp:admin";
/** Characters of what a gateway elsewhere says. */
const mostSaid = 500;
/** A token that ends so soon is renewed before it is used. */
const renewEarlyMs = 60_000;

/** Whether somebody names a gateway elsewhere, and no server of this one. */
export function isGatewayAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Logs a person in at a gateway for teams, as apps are: in a browser, at the gateway's own authorization server. */
export async function logInAtGateway(
  context: CommandContext,
  address: string,
  way: Pick<LoginOptions, "open" | "openCallback" | "scope" | "client" | "clientMetadataUrl">,
  signal: AbortSignal,
): Promise<void> {
  const { base, vault, outgoing } = await openAccount(context, address);
  const { logIn } = await import("../servers/logins/login.ts");
  const credential = await logIn(
    {
      ...way,
      ...placeOf(context, base),
      scope: way.scope ?? usualScopes,
      headers: {},
      now: () => Date.now(),
    },
    signal,
  );
  const before = await vault.exclusively(nameOf(base), signal, async () => {
    const known = await read(vault, base);
    await vault.write(nameOf(base), serializeCredential(credential));
    return known;
  });
  // The one before is of no use to anybody any more.
  if (before !== undefined) await revokeTokens(before, outgoing, signal).catch(() => undefined);
}

/** Resolves to whether somebody was logged in. The gateway is told; it does not have to be there. */
export async function logOutAtGateway(context: CommandContext, address: string, signal: AbortSignal): Promise<boolean> {
  const { base, vault, outgoing } = await openAccount(context, address);
  const { known, wasThere } = await vault.exclusively(nameOf(base), signal, async () => ({
    known: await read(vault, base),
    wasThere: await vault.remove(nameOf(base)),
  }));
  if (known !== undefined) await revokeTokens(known, outgoing, signal).catch(() => undefined);
  return wasThere;
}

/** One request to a gateway's REST, as the person who is logged in there. Rejects with what the gateway answers. */
export type AskGateway = (method: string, path: string, body?: object) => Promise<unknown>;

/** Rejects with LOGIN_FAILED where nobody is logged in. */
export async function openGateway(context: CommandContext, address: string, signal: AbortSignal): Promise<AskGateway> {
  const account = await openAccount(context, address);
  const { base } = account;
  return async (method, path, body) => {
    const answer = await fetch(`${base}${path}`, {
      method,
      redirect: "error",
      signal,
      headers: {
        authorization: `Bearer ${await usableToken(account, signal)}`,
        ...(method === "GET" ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new GatewayError("GATEWAY_UNREACHABLE", `${base} cannot be reached`, { cause });
    });
    const value: unknown = await answer.json().catch(() => undefined);
    if (answer.ok) return value;
    if (answer.status === 401) throw loggedOut(base);
    const said = isJsonObject(value) ? value : {};
    // It comes from another machine, and is printed on a terminal.
    const text = (name: string): string =>
      typeof said[name] === "string" ? plainText(shorten(said[name], mostSaid)) : "";
    throw new GatewayError("LOGIN_FAILED", text("message") || text("detail") || `${base} answered ${answer.status}`, {
      hint: text("hint"),
    });
  };
}

interface Account {
  readonly base: string;
  readonly vault: CredentialStore;
  readonly outgoing: Outgoing;
}

async function openAccount(context: CommandContext, address: string): Promise<Account> {
  const url = new URL(address);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname))
    throw new GatewayError(
      "LOGIN_FAILED",
      `${url.origin} is not encrypted: everybody on the way could read the login`,
      {
        hint: `Write https://${url.host}${url.pathname === "/" ? "" : url.pathname}.`,
      },
    );
  // Whoever copies what clients are given means the same gateway.
  const base = url.origin + url.pathname.replace(/\/+$/, "").replace(/\/mcp$/, "");
  const config = await readConfig({ ...context, flags: { ...context.flags, team: undefined } });
  const vault = await storeIn(openDataDirectory(config, context), context).secrets();
  return { base, vault, outgoing: createOutgoing(await addressRulesFor(base), placeOf(context, base)) };
}

function placeOf({ env }: CommandContext, base: string): Pick<LoginOptions, "serverUrl" | "route"> {
  const serverUrl = `${base}/mcp`;
  const transport = { kind: "http" as const, url: serverUrl, headers: {} };
  const route = createLoginRoute("the gateway", transport, {
    environment: env,
    loadLate: async (_what, load) => await load(),
  });
  return { serverUrl, route };
}

/** No instance has a name with spaces. */
function nameOf(base: string): string {
  return `login at ${base}`;
}

async function read(vault: CredentialStore, base: string): Promise<Credential | undefined> {
  const kept = await vault.read(nameOf(base));
  return kept.kind === "text" ? parseCredential(kept.text) : undefined;
}

/** A refresh token may be used once: commands at the same time take turns, and the second finds what the first got. */
async function usableToken({ base, vault, outgoing }: Account, signal: AbortSignal): Promise<string> {
  return await vault.exclusively(nameOf(base), signal, async () => {
    const known = await read(vault, base);
    if (known === undefined) throw loggedOut(base);
    const { access, refresh, expiresAtMs = Number.POSITIVE_INFINITY } = known.tokens;
    const now = Date.now();
    if (expiresAtMs - now > renewEarlyMs) return access;
    const renewed = refresh === undefined ? undefined : await renewTokens(known, refresh, outgoing, now);
    if (renewed === undefined || renewed.kind === "ended") throw loggedOut(base);
    if (renewed.kind === "unreachable")
      throw new GatewayError("GATEWAY_UNREACHABLE", `the login at ${base} cannot be renewed: ${renewed.reason}`);
    const { tokens, scope } = renewed;
    await vault.write(nameOf(base), serializeCredential({ ...known, tokens, scope }));
    return tokens.access;
  });
}

function loggedOut(base: string): GatewayError {
  return new GatewayError("LOGIN_FAILED", `nobody is logged in at ${base} here`, {
    hint: `Run \`toolyard login ${base}\`.`,
  });
}
