import type { Config } from "../../config/config.ts";
import { addressRulesFor } from "../../servers/logins/protocol/addresses.ts";
import {
  type Credential,
  type CredentialStore,
  parseCredential,
  serializeCredential,
} from "../../servers/logins/credential.ts";
import type { LoginRoute } from "../../servers/logins/flow/login-route.ts";
import { createLoginRoute } from "../../servers/logins/http-route.ts";
import type { LoginOptions } from "../../servers/logins/login-flow.ts";
import { createOutgoing } from "../../servers/logins/outgoing.ts";
import { revokeTokens } from "../../servers/logins/renew.ts";
import { givenOption, type GivenText, isOn, textOption } from "../../config/given.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { findLoginTarget, type LoginTarget } from "../../operations/machine/servers/configured-server.ts";
import { openBrowser } from "../../operations/machine/surroundings/own-command.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isGatewayAddress, logInAtGateway, logOutAtGateway } from "../gateway/gateway-login.ts";
import { loginElsewhere, logoutElsewhere } from "./login-elsewhere.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { openLoginVault } from "./login-vault.ts";
import { misused } from "../terminal/wrong-usage.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { createAuditLog } from "../../records/audit/audit-log.ts";
import { loginFacts } from "../../records/audit/audit-events.ts";
import { openUnservedStore, type UnservedStore } from "../gateway/unserved-store.ts";

/**
 * `toolyard login <server>`: logs in at a server through the browser (OAuth). A gateway that runs on the same data
 * directory notices it by itself.
 */
export async function login(context: CommandContext): Promise<number> {
  const [named = ""] = context.positionals;
  if (isElsewhere(context, named))
    return await loginElsewhere(context, (server, url) => show(context, server, url), interrupted());
  if (isOn(context, "device") && ["callback-port", "no-browser"].some((option) => context.flags[option] !== undefined))
    return misused("login SERVER|URL --device, without --callback-port and --no-browser");
  if (isGatewayAddress(named)) return await loginAtGateway(context, named);
  await using target = await findTarget(context, "login");
  const { server, instance, vault } = target;
  const { logIn } = await import("../../servers/logins/login.ts");
  const { openCallback } = await import("../../servers/logins/flow/callback.ts");
  const before = await readCredential(vault, instance);
  const port = toPort(givenOption(context, "callback-port"));
  const credential = await logIn(
    {
      serverUrl: server.transport.url,
      route: routeOf(server, context),
      headers: server.transport.headers,
      scope: wantedScope(context, before),
      client: givenClient(context),
      clientMetadataUrl: textOption(context, "client-metadata-url"),
      openCallback: async () => await openCallback(port),
      open: (url) => show(context, server.slug, url),
      device: deviceOf(context, server.slug),
      now: () => Date.now(),
    },
    interrupted(),
  );
  {
    await using audit = await openLoginAudit(context, target.config);
    await vault.exclusively(
      instance,
      new AbortController().signal,
      async () => await vault.write(instance, serializeCredential(credential)),
    );
    await audit.note(instance, "login");
  }
  process.stdout.write(
    `logged in to ${server.slug}${credential.tokens.refresh === undefined ? "; without a refresh token, so until it expires" : ""}\n`,
  );
  return 0;
}

/** A gateway that is named goes before one from a variable. */
function isElsewhere(context: CommandContext, named: string): boolean {
  return (
    context.flags["gateway"] !== undefined || (textOption(context, "gateway") !== undefined && !isGatewayAddress(named))
  );
}

async function loginAtGateway(context: CommandContext, address: string): Promise<number> {
  const { openCallback } = await import("../../servers/logins/flow/callback.ts");
  const port = toPort(givenOption(context, "callback-port"));
  const way = {
    openCallback: async () => await openCallback(port),
    open: (url: string) => show(context, address, url),
    device: deviceOf(context, address),
    scope: textOption(context, "scope"),
    client: givenClient(context),
    clientMetadataUrl: textOption(context, "client-metadata-url"),
  };
  const base = await logInAtGateway(context, address, way, interrupted());
  process.stdout.write(`logged in to ${base}\n`);
  return 0;
}

/** `toolyard logout <server>`: forgets the login, and revokes it at the authorization server if that is supported. */
export async function logout(context: CommandContext): Promise<number> {
  const [named = ""] = context.positionals;
  if (isElsewhere(context, named)) return await logoutElsewhere(context, interrupted());
  if (isGatewayAddress(named)) {
    const { base, wasThere } = await logOutAtGateway(context, named, interrupted());
    process.stdout.write(wasThere ? `logged out of ${base}\n` : `no one was logged in to ${base}\n`);
    return 0;
  }
  await using target = await findTarget(context, "logout");
  const { server } = target;
  const { credential, wasThere } = await forget(context, target);
  if (credential !== undefined) await revoke(credential, routeOf(server, context));
  process.stdout.write(wasThere ? `logged out of ${server.slug}\n` : `no one was logged in to ${server.slug}\n`);
  return 0;
}

async function forget(context: CommandContext, { config, vault, instance }: Target) {
  await using audit = await openLoginAudit(context, config);
  // Waits for a refresh that is under way, which would otherwise store the login again.
  const forgotten = await vault.exclusively(instance, interrupted(), async () => ({
    credential: await readCredential(vault, instance),
    wasThere: await vault.remove(instance),
  }));
  if (forgotten.wasThere) await audit.note(instance, "logout");
  return forgotten;
}

interface Target extends LoginTarget, AsyncDisposable {
  readonly config: Config;
  readonly vault: CredentialStore;
}

/** The instance that the command line names. Rejects with CONFIG_INVALID. */
async function findTarget(context: CommandContext, command: string): Promise<Target> {
  const [slug] = context.positionals;
  if (slug === undefined)
    throw new GatewayError("CONFIG_INVALID", "say which server", { hint: `Write \`toolyard ${command} <server>\`.` });
  const config = await readConfig(context);
  const found = findLoginTarget(config, slug, textOption(context, "principal"));
  return { ...found, config, ...(await openLoginVault(context, config, textOption(context, "principal") ?? null)) };
}

async function readCredential(vault: CredentialStore, instance: string): Promise<Credential | undefined> {
  const kept = await vault.read(instance);
  return kept.kind === "text" ? parseCredential(kept.text) : undefined;
}

/**
 * `--scope` extends a login: scopes that were granted before are requested again (MCP, step-up authorization flow).
 */
function wantedScope(context: CommandContext, before: Credential | undefined): string | undefined {
  const scope = textOption(context, "scope");
  return scope === undefined ? undefined : [before?.scope ?? "", scope].join(" ").trim();
}

function givenClient(
  context: CommandContext,
): { readonly id: string; readonly secret: string | undefined } | undefined {
  const id = textOption(context, "client-id");
  return id === undefined ? undefined : { id, secret: context.env["TOOLYARD_CLIENT_SECRET"] || undefined };
}

function show(context: CommandContext, server: string, url: string): void {
  process.stderr.write(`To log in to ${server}, open this address in your browser:\n\n  ${url}\n\n`);
  if (!isOn(context, "no-browser")) openBrowser(url, process.platform);
}

/** With `--device`, the person opens a browser elsewhere. */
function deviceOf(context: CommandContext, server: string): LoginOptions["device"] {
  if (!isOn(context, "device")) return undefined;
  // Both come from another machine.
  return ({ url, code, lifetimeMs }) => {
    const minutes = Math.max(1, Math.floor(lifetimeMs / 60_000));
    process.stderr.write(
      `To log in to ${server}, open this address in a browser anywhere:\n\n  ${plainText(url)}\n\nand type this code there within ${minutes === 1 ? "a minute" : `${minutes} minutes`}: ${plainText(code)}\n\n`,
    );
  };
}

/** As the gateway reaches it: through the server's proxy, with its certificates. */
function routeOf({ slug, transport }: Target["server"], { env }: CommandContext): LoginRoute {
  return createLoginRoute(slug, transport, { environment: env, loadLate: async (_what, load) => await load() });
}

async function revoke(credential: Credential, route: LoginRoute): Promise<void> {
  try {
    const outgoing = createOutgoing(await addressRulesFor(credential.serverUrl), {
      serverUrl: credential.serverUrl,
      route,
    });
    await revokeTokens(credential, outgoing, new AbortController().signal);
  } catch (error) {
    process.stderr.write(
      `toolyard: the authorization server was not told: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => controller.abort(new GatewayError("LOGIN_FAILED", "the login was interrupted")));
  return controller.signal;
}

function toPort(given: GivenText | undefined): number {
  if (given === undefined) return 0;
  const port = /^\d{1,5}$/.test(given.text) ? Number(given.text) : Number.NaN;
  if (!(port <= 65_535))
    throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a whole number from 0 to 65535`, {
      hint: "Give the port that the client was registered with, or leave it out.",
    });
  return port;
}

/** Where a command lists a login that it makes or removes. To be opened before it does. */
interface LoginAudit extends AsyncDisposable {
  /** Resolves when it is on the disk. Where that fails, it is said and the login stays. */
  note(instance: string, what: "login" | "logout"): Promise<void>;
}

/**
 * Opens the audit while no gateway runs with the configuration. A gateway that runs notices logins by itself, and lists
 * them. Rejects with STORE_UNAVAILABLE where the audit is strict and cannot be written.
 */
async function openLoginAudit(context: CommandContext, config: Config): Promise<LoginAudit> {
  const { audit, store } = config.settings.records;
  if (audit === "off" || store === "off") return listsNothing;
  let opened: UnservedStore | undefined;
  try {
    opened = await open(context, config);
    const problem = opened?.records.health().problems.find(({ database }) => database !== "records");
    if (problem !== undefined) throw new GatewayError("STORE_UNAVAILABLE", problem.message, { hint: problem.hint });
  } catch (error) {
    await opened?.[Symbol.asyncDispose]();
    if (audit === "strict") throw error;
    complain(error);
    return listsNothing;
  }
  return opened === undefined ? listsNothing : listIn(opened);
}

const listsNothing: LoginAudit = Object.freeze({
  note: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
});

/** For a gateway that starts, or another command that has the files open. */
const waitMs = 10_000;
const againMs = 50;

/** Undefined where a gateway runs. */
async function open(context: CommandContext, config: Config): Promise<UnservedStore | undefined> {
  const deadlineMs = systemClock.monotonic() + waitMs;
  for (;;) {
    const found = await openUnservedStore(context, config);
    if ("records" in found) return found;
    if (found.url !== null || systemClock.monotonic() > deadlineMs) return undefined;
    await sleep(againMs, new AbortController().signal);
  }
}

function listIn(store: UnservedStore): LoginAudit {
  // Nothing in an entry of a login is secret.
  const log = createAuditLog({ clock: systemClock, redact: (text) => text });
  log.open(store.records);
  return {
    note: async (instance, what) => void (await log.write(loginFacts(instance, what)).catch(complain)),
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  };
}

function complain(error: unknown): void {
  const { message, hint } = toGatewayError(error);
  process.stderr.write(`toolyard: not in the audit: ${plainText(message)}\n  ${plainText(hint ?? "")}\n`);
}
