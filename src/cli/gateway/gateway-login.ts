import { Readable } from "node:stream";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { addressRulesFor, isLoopbackHost } from "../../servers/logins/protocol/addresses.ts";
import {
  type Credential,
  type CredentialStore,
  parseCredential,
  serializeCredential,
} from "../../servers/logins/credential.ts";
import { createOutgoing, type LoginPlace, type Outgoing } from "../../servers/logins/outgoing.ts";
import type { LoginOptions } from "../../servers/logins/login-flow.ts";
import { renewTokens, revokeTokens } from "../../servers/logins/renew.ts";
import { openOwnDataDirectory, storeIn } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { placeOfGateway } from "../../operations/machine/surroundings/local-gateways.ts";
import type { RestWay } from "./rest-way.ts";
import { exposureNames } from "../../config/rows/exposures.ts";

/** The scopes of a person's commands there. `--scope` restricts them. */
const usualScopes = "mcp:read mcp:tools:execute mcp:admin";
/** A call of a tool may take 15 minutes, and its result 16 MB. */
const restLimits = { bytes: 64 * 1024 * 1024, timeoutMs: 16 * 60_000 };
/** A token that ends so soon is renewed before it is used. */
const renewEarlyMs = 60_000;

/**
 * Logs a person in at a gateway for teams, as apps are: in a browser, at the gateway's own authorization server.
 * Resolves to the gateway's address.
 */
export async function logInAtGateway(
  context: CommandContext,
  address: string,
  way: Pick<LoginOptions, "open" | "openCallback" | "device" | "scope" | "client" | "clientMetadataUrl">,
  signal: AbortSignal,
): Promise<string> {
  const { base, vault, outgoing } = await openAccount(context, address);
  const { logIn } = await import("../../servers/logins/login.ts");
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
  return base;
}

/** `wasThere` says whether somebody was logged in. The gateway is told; it does not have to be there. */
export async function logOutAtGateway(
  context: CommandContext,
  address: string,
  signal: AbortSignal,
): Promise<{ readonly base: string; readonly wasThere: boolean }> {
  const { base, vault, outgoing } = await openAccount(context, address);
  const { known, wasThere } = await vault.exclusively(nameOf(base), signal, async () => ({
    known: await read(vault, base),
    wasThere: await vault.remove(nameOf(base)),
  }));
  if (known !== undefined) await revokeTokens(known, outgoing, signal).catch(() => undefined);
  return { base, wasThere };
}

/**
 * Requests to a gateway's REST, as the person who is logged in there, and by the way that logins take: through the same
 * proxy, to addresses within reach. Rejects with LOGIN_FAILED where no one is logged in.
 */
export async function openWay(context: CommandContext, address: string, signal: AbortSignal): Promise<RestWay> {
  const account = await openAccount(context, address);
  const { base, outgoing } = account;
  const way: RestWay = {
    base,
    isStreaming: false,
    async send({ method, path, headers, body }) {
      const authorization = `Bearer ${await usableToken(account, signal)}`;
      const given = { method, headers: { ...headers, authorization }, limits: restLimits };
      const request = { ...given, ...(body === undefined ? {} : { body }) };
      const answer = await outgoing(`${base}${path}`, request, signal).catch((cause: unknown) => {
        if (signal.aborted || !(cause instanceof GatewayError)) throw cause;
        throw new GatewayError("GATEWAY_UNREACHABLE", cause.message, { cause });
      });
      if (answer.status === 401) throw loggedOut(base);
      return { status: answer.status, text: answer.body.toString("utf8") };
    },
    async open(request) {
      const { status, text } = await way.send(request);
      return { status, chunks: Readable.from([Buffer.from(text)]) };
    },
  };
  return way;
}

interface Account {
  readonly base: string;
  readonly vault: CredentialStore;
  readonly outgoing: Outgoing;
}

/**
 * A login at a gateway elsewhere belongs to the person and not to a configuration: none is read, so that a broken one
 * does no harm.
 */
async function openAccount(context: CommandContext, address: string): Promise<Account> {
  const base = toGatewayBase(address);
  const vault = await storeIn(openOwnDataDirectory(context), context).secrets();
  return { base, vault, outgoing: createOutgoing(await addressRulesFor(base), placeOf(context, base)) };
}

function placeOf({ env }: CommandContext, base: string): LoginPlace {
  return placeOfGateway(`${base}/mcp`, env);
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
  return new GatewayError("LOGIN_FAILED", `no one is logged in at ${base} here`, {
    hint: `Run \`toolyard login ${base}\`.`,
  });
}

/** Whether somebody names a gateway elsewhere, and no server of this one. */
export function isGatewayAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * Where a client may be told to connect: the path of every kind of endpoint behind the gateway's own address. People
 * copy these, and mean the gateway.
 */
const endpointPath = new RegExp(
  `(?:/i/[^/]+)?/(?:mcp|sse)(?:/(?:${exposureNames.join("|")})(?:/[^/]+)?)?(?:/messages)?$`,
);

/** The gateway's own address, without a slash at its end. Throws LOGIN_FAILED where others on the way could read. */
export function toGatewayBase(address: string): string {
  const url = new URL(address);
  const base = url.origin + url.pathname.replace(/\/+$/, "").replace(endpointPath, "");
  if (url.protocol !== "http:" || isLoopbackHost(url.hostname)) return base;
  throw new GatewayError("LOGIN_FAILED", `${url.origin} is not encrypted: everybody on the way could read the login`, {
    hint: `Write https://${url.host}${url.pathname === "/" ? "" : url.pathname}.`,
  });
}
