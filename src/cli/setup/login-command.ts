import type { Config, HttpTransport, ServerConfig } from "../../config/config.ts";
import { addressRulesFor } from "../../servers/logins/protocol/addresses.ts";
import {
  parseCredential,
  serializeCredential,
  type Credential,
  type CredentialStore,
} from "../../servers/logins/credential.ts";
import type { LoginRoute } from "../../servers/logins/flow/login-route.ts";
import { createLoginRoute } from "../../servers/logins/http-route.ts";
import type { LoginOptions } from "../../servers/logins/login-flow.ts";
import { createOutgoing } from "../../servers/logins/outgoing.ts";
import { revokeTokens } from "../../servers/logins/renew.ts";
import type { GivenText } from "../../config/given.ts";
import { wantedFor } from "../../servers/instance/fleet/desired-instances.ts";
import { createConfigDirectory } from "../../people/directory/config-directory.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { openBrowser } from "../terminal/browser.ts";
import { openDataDirectory, readConfig, storeIn, type CommandContext } from "../command/command-context.ts";
import { openLoginAudit } from "./login-audit.ts";
import { isGatewayAddress } from "../gateway/gateway-address.ts";
import { logInAtGateway, logOutAtGateway } from "../gateway/gateway-login.ts";
import { loginElsewhere, logoutElsewhere } from "./login-elsewhere.ts";
import { givenOption, isOn, textOption } from "../command/options.ts";
import { plainText } from "../terminal/plain-text.ts";
import { canLogIn } from "../../config/entry/transports.ts";
import { misused } from "../terminal/wrong-usage.ts";

const wrongUsage = 2;

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
  const target = await findTarget(context, "login");
  if (target === undefined) return wrongUsage;
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
  const target = await findTarget(context, "logout");
  if (target === undefined) return wrongUsage;
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

interface Target {
  readonly config: Config;
  readonly server: ServerConfig & { readonly transport: HttpTransport };
  readonly instance: InstanceId;
  readonly vault: CredentialStore;
}

/**
 * The instance that the command line names. When it names none, prints the reason to stderr and returns undefined.
 */
async function findTarget(context: CommandContext, command: string): Promise<Target | undefined> {
  const [slug] = context.positionals;
  if (slug === undefined) return complain(`say which server: \`toolyard ${command} <server>\``);
  const config = await readConfig(context);
  const template = config.servers.find((server) => server.slug === slug || server.key === slug);
  if (template === undefined)
    return complain(
      `there is no server ${JSON.stringify(slug)}; there are: ${config.servers.map((server) => server.slug).join(", ") || "none"}`,
    );
  const person = personOf(config, template, textOption(context, "principal"));
  if (typeof person === "string") return complain(person);
  const wanted = wantedFor(
    { id: undefined, owner: person.owner, server: template },
    config.servers,
    createConfigDirectory(config),
  );
  if (wanted === undefined)
    return complain(`no one is called ${JSON.stringify(textOption(context, "principal"))} in the configuration`);
  const { transport } = wanted.server;
  if (!canLogIn(transport)) return complain(`${template.slug} is a command on this machine: it needs no login`);
  if (Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization")) {
    return complain(
      `${template.slug} has an Authorization header in the configuration, which goes before any login: take it out first`,
    );
  }
  const store = storeIn(openDataDirectory(config, context), context);
  return {
    config,
    server: { ...wanted.server, transport },
    instance: wanted.id,
    vault: await store.secrets(),
  };
}

/** The owner of the login: none for a shared server, otherwise one person. */
function personOf(
  config: Config,
  server: ServerConfig,
  name: string | undefined,
): { readonly owner: PrincipalId | null } | string {
  if (server.scope === "shared")
    return name === undefined ? { owner: null } : `${server.slug} is shared by everybody: log in without --principal`;
  const people = [...config.people.principals.keys()];
  if (name === undefined && people.length > 0 && config.settings.auth.tokenHashes.length === 0)
    return `say who: --principal ${people.slice(0, 10).join(" | ")}`;
  return { owner: (name ?? localPrincipal.id) as PrincipalId };
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

function complain(sentence: string): undefined {
  process.stderr.write(`toolyard: ${sentence}\n`);
}
