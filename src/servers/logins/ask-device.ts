import type { OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import { sleep } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import { findClient } from "./authorization-server.ts";
import type { AuthorizationServer, DeviceCode, Flow, Wish } from "./login-flow.ts";
import { checkUrl, type OutgoingAnswer } from "./outgoing.ts";
import { clientForm, parseAnswer } from "./renew.ts";
import { errorCode } from "./sdk-calls.ts";

const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";
/** Nobody is sent there: a registration wants an address, and this one is of the same machine. */
const unusedRedirect = "http://127.0.0.1/callback";
/** RFC 8628, section 3.2, where the authorization server names none. */
const usualIntervalMs = 5_000;
/** Section 3.5: so much longer after `slow_down`. */
const slowerMs = 5_000;
const longestIntervalMs = 60_000;
/** Whatever a server says: nobody is asked without pause. */
const shortestIntervalMs = 1_000;
/** Finding another machine with a browser takes longer than the browser of this one. */
const longestWaitMs = 900_000;
/** People type addresses. */
const longestUrl = 2_000;
/** Codes that people type are of eight or nine characters. */
const longestCode = 64;

/** What was given for the code that the person typed elsewhere. */
export interface DeviceGrant {
  readonly client: OAuthClientInformationMixed;
  readonly answer: JsonObject;
  /** When it was asked for: wall clock, ms. */
  readonly askedAtMs: number;
}

/**
 * The device authorization grant (RFC 8628), for terminals on machines without a browser: shows an address and a code,
 * and asks until somebody has typed it there. Written here because the SDK has none. Rejects with LOGIN_FAILED, or the
 * signal's reason.
 */
export async function askDevice(flow: Flow, server: AuthorizationServer, wish: Wish): Promise<DeviceGrant> {
  const endpoint = deviceEndpointOf(server.metadata);
  const { origin } = new URL(server.url);
  if (endpoint === undefined)
    throw new GatewayError("LOGIN_FAILED", `${origin} has no device flow`, {
      hint: "Log in without --device, on a machine with a browser.",
    });
  checkUrl(endpoint, flow.rules, flow.home);
  // The code's own grant stands there for its response type (RFC 7591, section 2.1).
  const grantTypes = [deviceGrantType, "authorization_code", "refresh_token"];
  const client = await findClient(flow, server, { scope: wish.scope, redirectUrl: unusedRedirect, grantTypes });
  const started = await post(flow, endpoint, { server, client }, toForm(wish));
  const device = parseDevice(flow, started.value);
  if (!isFine(started.answer) || device === undefined)
    throw new GatewayError("LOGIN_FAILED", `${origin} started no device flow: ${reasonOf(started.value)}`);
  flow.options.device?.(device.shown);
  return { client, ...(await poll(flow, { server, client, device }, wish)) };
}

interface Device {
  readonly shown: DeviceCode;
  readonly secret: string;
  readonly intervalMs: number;
}

interface Asking {
  readonly server: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
}

async function poll(
  flow: Flow,
  asking: Asking & { readonly device: Device },
  wish: Wish,
): Promise<Omit<DeviceGrant, "client">> {
  const { device, server } = asking;
  const endsAtMs = flow.options.now() + device.shown.lifetimeMs;
  let lost: unknown;
  const form = toForm(wish, { grant_type: deviceGrantType, device_code: device.secret });
  for (let { intervalMs } = device; flow.options.now() + intervalMs < endsAtMs;) {
    await sleep(intervalMs, flow.signal);
    const askedAtMs = flow.options.now();
    const told = await post(flow, server.metadata.token_endpoint, asking, form).catch((error: unknown) => {
      if (flow.signal.aborted) throw error;
      lost = error;
      return undefined;
    });
    const { answer, value } = told ?? {};
    if (answer !== undefined) lost = undefined;
    if (answer !== undefined && isFine(answer) && value !== undefined) return { answer: value, askedAtMs };
    const error = value?.["error"];
    if (error === "authorization_pending") continue;
    // One that cannot be reached for a while, or has too much to do, is asked less often, too (section 3.5).
    if (error === "slow_down" || answer === undefined || answer.status === 429 || answer.status >= 500)
      intervalMs = Math.min(intervalMs + slowerMs, longestIntervalMs);
    else if (error === "access_denied") throw new GatewayError("LOGIN_FAILED", "the login was declined");
    else if (error === "expired_token") break;
    else throw new GatewayError("LOGIN_FAILED", `the authorization server refused: ${reasonOf(value)}`);
  }
  if (lost !== undefined)
    throw new GatewayError("LOGIN_FAILED", `${new URL(server.url).origin} could not be asked any more`, {
      cause: lost,
    });
  throw new GatewayError("LOGIN_FAILED", "nobody typed the code in time");
}

async function post(flow: Flow, url: string, { server, client }: Asking, form: URLSearchParams) {
  const { client_id: id, client_secret: secret } = client;
  const methods = server.metadata.token_endpoint_auth_methods_supported ?? [];
  const about = { id, secret, auth: flow.sdk.selectClientAuthMethod(client, methods) };
  const answer = await flow.outgoing(url, clientForm(about, form), flow.signal);
  return { answer, value: parseAnswer(answer) };
}

function toForm({ scope, resource }: Wish, more: Readonly<Record<string, string>> = {}): URLSearchParams {
  const isStart = more["grant_type"] === undefined;
  return new URLSearchParams({
    ...more,
    ...(scope === undefined || !isStart ? {} : { scope }),
    ...(resource === undefined ? {} : { resource }),
  });
}

/** Section 3.2. Undefined when it is no such answer. */
function parseDevice({ rules, home }: Flow, value: JsonObject | undefined): Device | undefined {
  const { device_code: secret, user_code: code, verification_uri: uri, expires_in: lifetime } = value ?? {};
  if (typeof secret !== "string" || typeof code !== "string" || typeof uri !== "string") return undefined;
  if (secret === "" || code === "" || code.length > longestCode || uri.length > longestUrl) return undefined;
  if (typeof lifetime !== "number" || lifetime <= 0) return undefined;
  const interval = value?.["interval"];
  const intervalMs = typeof interval === "number" && interval > 0 ? interval * 1_000 : usualIntervalMs;
  return {
    shown: {
      code,
      url: checkUrl(uri, rules, home).href,
      lifetimeMs: Math.min(lifetime * 1_000, longestWaitMs),
    },
    secret,
    intervalMs: Math.min(Math.max(intervalMs, shortestIntervalMs), longestIntervalMs),
  };
}

function deviceEndpointOf(metadata: AuthorizationServer["metadata"]): string | undefined {
  const endpoint = (metadata as Readonly<Record<string, unknown>>)["device_authorization_endpoint"];
  return typeof endpoint === "string" ? endpoint : undefined;
}

function isFine({ status }: OutgoingAnswer): boolean {
  return status >= 200 && status < 300;
}

function reasonOf(value: JsonObject | undefined): string {
  return errorCode(typeof value?.["error"] === "string" ? value["error"] : null);
}
