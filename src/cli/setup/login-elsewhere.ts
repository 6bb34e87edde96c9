import { setTimeout as delay } from "node:timers/promises";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { loginTimeoutMs } from "../../servers/logins/flow/login-route.ts";
import type { listInstances, showInstance } from "../../operations/servers/instance-operations.ts";
import type { connect, removeLogin, showLogin } from "../../operations/servers/instance-login-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isGatewayAddress, toGatewayBase, openWay } from "../gateway/gateway-login.ts";
import { createGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { textOption } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** How often the gateway is asked whether the person has logged in: a person notices no more. */
const askMs = 1_000;

/** These are about a login that this machine makes. The gateway makes this one, by itself. */
const ownOptions = ["principal", "device", "scope", "client-id", "client-metadata-url", "callback-port"] as const;

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
  const gateway = createGatewayClient(await openWay(context, base, signal));
  const params = { id: await findServer(gateway, name) };
  const { takesLogin } = await gateway.ask<typeof showLogin>("GET /api/instances/{id}/login", { params });
  if (!takesLogin)
    throw new GatewayError("LOGIN_FAILED", `${plainText(name)} takes no login`, {
      hint: `\`toolyard config get ${plainText(name)} --me --gateway ${base}\` shows what it takes from you.`,
    });
  if (await isUsable(gateway, params)) {
    process.stdout.write(`logged in to ${plainText(name)} already\n`);
    return 0;
  }
  const { url } = await gateway.ask<typeof connect>("POST /api/instances/{id}/connect", { params });
  if (!isGatewayAddress(url)) throw new GatewayError("LOGIN_FAILED", "the gateway names no page for it");
  show(plainText(name), plainText(url));
  await untilUsable(gateway, params, signal);
  process.stdout.write(`logged in to ${plainText(name)}\n`);
  return 0;
}

/** `toolyard logout SERVER --gateway URL`. The gateway tells the authorization server. */
export async function logoutElsewhere(context: CommandContext, signal: AbortSignal): Promise<number> {
  const asked = readNames(context, "logout");
  if (typeof asked === "number") return asked;
  const { name, base } = asked;
  const gateway = createGatewayClient(await openWay(context, base, signal));
  const params = { id: await findServer(gateway, name) };
  const { hasLogin } = await gateway.ask<typeof showLogin>("GET /api/instances/{id}/login", { params });
  if (hasLogin) await gateway.ask<typeof removeLogin>("DELETE /api/instances/{id}/login", { params });
  process.stdout.write(`${hasLogin ? "logged out of" : "no one was logged in to"} ${plainText(name)}\n`);
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

/** The id of the person's own instance of a server. Rejects with SERVER_UNKNOWN. */
async function findServer(gateway: GatewayClient, name: string): Promise<string> {
  const { instances } = await gateway.ask<typeof listInstances>("GET /api/instances", {});
  const found = instances.find(({ id, server }) => server === name || id === name);
  if (found !== undefined) return found.id;
  const names = instances.map(({ server }) => server).slice(0, 50);
  throw new GatewayError("SERVER_UNKNOWN", `you have no server ${plainText(name)} there`, {
    hint: plainText(`You have ${names.join(", ") || "none"}.`),
  });
}

/** A login that the server does not take any more is none. */
async function isUsable(gateway: GatewayClient, params: { readonly id: string }): Promise<boolean> {
  const { hasLogin } = await gateway.ask<typeof showLogin>("GET /api/instances/{id}/login", { params });
  if (!hasLogin) return false;
  const { status } = await gateway.ask<typeof showInstance>("GET /api/instances/{id}", { params });
  return status !== "requires_reauth";
}

async function untilUsable(
  gateway: GatewayClient,
  params: { readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  // For finding the page, logging in at the gateway first where that is needed, and at the server.
  const limit = abortAfter(2 * loginTimeoutMs, signal);
  while (!(await isUsable(gateway, params))) {
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
