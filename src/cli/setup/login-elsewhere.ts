import { setTimeout as delay } from "node:timers/promises";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { loginTimeoutMs } from "../../servers/logins/flow/login-limits.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isGatewayAddress, toGatewayBase } from "../gateway/gateway-address.ts";
import { openGateway, type AskGateway } from "../gateway/gateway-login.ts";
import { textOption } from "../command/options.ts";
import { plainText } from "../terminal/plain-text.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** How often the gateway is asked whether the person has logged in: a person notices no more. */
const askMs = 1_000;

/** These are about a login that this machine makes. The gateway makes this one, by itself. */
const ownOptions = ["principal", "device", "scope", "client-id", "client-metadata-url", "callback-port"] as const;

/** As the gateway answers, which may be of another version. */
interface Standing {
  readonly status?: string;
  readonly takesLogin?: boolean;
  readonly hasLogin?: boolean;
  readonly isShared?: boolean;
  readonly url?: string;
}

/**
 * `toolyard login SERVER --gateway URL`: a person logs in at a server behind a gateway elsewhere. That happens on the
 * gateway's page, in a browser in which the same person is logged in; the command opens it and waits for what comes of
 * it.
 */
export async function loginElsewhere(
  context: CommandContext,
  show: (what: string, url: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const asked = readNames(context, "login");
  if (typeof asked === "number") return asked;
  const { name, base } = asked;
  const ask = await openGateway(context, base, signal);
  const at = await findServer(ask, name);
  const before = (await ask("GET", `${at}/login`)) as Standing;
  if (before.takesLogin !== true)
    throw new GatewayError("LOGIN_FAILED", `${plainText(name)} takes no login`, {
      hint: `\`toolyard config get ${plainText(name)} --me --gateway ${base}\` shows what it takes from you.`,
    });
  if (await isUsable(ask, at)) {
    process.stdout.write(`logged in to ${plainText(name)} already\n`);
    return 0;
  }
  const { url = "" } = (await ask("POST", `${at}/connect`, {})) as Standing;
  if (!isGatewayAddress(url)) throw new GatewayError("LOGIN_FAILED", "the gateway names no page for it");
  show(plainText(name), plainText(url));
  await untilUsable(ask, at, signal);
  process.stdout.write(`logged in to ${plainText(name)}\n`);
  return 0;
}

/** `toolyard logout SERVER --gateway URL`. The gateway tells the authorization server. */
export async function logoutElsewhere(context: CommandContext, signal: AbortSignal): Promise<number> {
  const asked = readNames(context, "logout");
  if (typeof asked === "number") return asked;
  const { name, base } = asked;
  const ask = await openGateway(context, base, signal);
  const at = await findServer(ask, name);
  const { hasLogin } = (await ask("GET", `${at}/login`)) as Standing;
  if (hasLogin === true) await ask("DELETE", `${at}/login`, {});
  process.stdout.write(`${hasLogin === true ? "logged out of" : "no one was logged in to"} ${plainText(name)}\n`);
  return 0;
}

function readNames(
  context: CommandContext,
  command: string,
): { readonly name: string; readonly base: string } | number {
  const [name] = context.positionals;
  const address = textOption(context, "gateway") ?? "";
  const usage = `${command} SERVER --gateway URL`;
  if (name === undefined || isGatewayAddress(name) || !isGatewayAddress(address)) return misused(usage);
  const other = ownOptions.find((option) => context.flags[option] !== undefined);
  if (other !== undefined) return misused(`${usage}, without --${other}`);
  return { name, base: toGatewayBase(address) };
}

/** Where the person's own instance of a server is. Rejects with SERVER_UNKNOWN. */
async function findServer(ask: AskGateway, name: string): Promise<string> {
  const { instances } = (await ask("GET", "/api/instances")) as {
    readonly instances?: readonly { readonly id: string; readonly server: string }[];
  };
  const found = (instances ?? []).find(({ id, server }) => server === name || id === name);
  if (found !== undefined) return `/api/instances/${encodeURIComponent(found.id)}`;
  const names = (instances ?? []).map(({ server }) => server).slice(0, 50);
  throw new GatewayError("SERVER_UNKNOWN", `you have no server ${plainText(name)} there`, {
    hint: plainText(`You have ${names.join(", ") || "none"}.`),
  });
}

/** A login that the server does not take any more is none. */
async function isUsable(ask: AskGateway, at: string): Promise<boolean> {
  const { hasLogin } = (await ask("GET", `${at}/login`)) as Standing;
  if (hasLogin !== true) return false;
  const { status } = (await ask("GET", at)) as Standing;
  return status !== "requires_reauth";
}

async function untilUsable(ask: AskGateway, at: string, signal: AbortSignal): Promise<void> {
  // For finding the page, logging in at the gateway first where that is needed, and at the server.
  const limit = abortAfter(2 * loginTimeoutMs, signal);
  while (!(await isUsable(ask, at))) {
    await delay(askMs, undefined, { signal: limit }).catch(() => undefined);
    signal.throwIfAborted();
    if (limit.aborted)
      throw new GatewayError(
        "LOGIN_FAILED",
        `the login was not finished within ${(2 * loginTimeoutMs) / 60_000} minutes`,
        {
          hint: "The page says why where it failed. Begin again.",
        },
      );
  }
}
