import { sleep } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { errorCodeOf, flawOf, isSuccess, millisecondsOf, parseAnswer, textOf } from "../protocol/answer-members.ts";
import type { Grant } from "./ask-person.ts";
import type { Credential } from "../credential.ts";
import { findClient } from "../protocol/find-client.ts";
import type { AuthorizationServer, DeviceCode, Flow, Wish } from "../login-flow.ts";
import { checkUrl } from "../outgoing.ts";
import { askForTokens, clientForm, type TokenAnswer } from "../protocol/token-endpoint.ts";

const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";
/** No browser is sent there: a registration needs an address, and this one is of the same machine. */
const unusedRedirect = "http://127.0.0.1/callback";
/** RFC 8628, section 3.2, where the authorization server names none. */
const usualIntervalMs = 5_000;
/** Section 3.5: so much longer after `slow_down`. */
const slowerMs = 5_000;
const longestIntervalMs = 60_000;
/** Whatever interval a server asks for, it is polled with pauses. */
const shortestIntervalMs = 1_000;
/** Finding another machine with a browser takes longer than the browser of this one. */
const longestWaitMs = 900_000;
/** People type addresses. */
const longestUrl = 2_000;
/** Codes that people type are of eight or nine characters. */
const longestCode = 64;
/** It goes back in a form. */
const longestSecret = 10_000;

/**
 * The device authorization grant (RFC 8628), for terminals on machines without a browser: shows an address and a code,
 * and asks until somebody has typed it there. Rejects with LOGIN_FAILED, or the signal's reason.
 */
export async function askDevice(flow: Flow, server: AuthorizationServer, wish: Wish): Promise<Grant> {
  const { origin } = server;
  const endpoint = server.metadata.deviceEndpoint;
  if (endpoint === undefined)
    throw new GatewayError("LOGIN_FAILED", `${origin} has no device flow`, {
      hint: "Log in without --device, on a machine with a browser.",
    });
  // The code's own grant is there for its response type (RFC 7591, section 2.1).
  const grantTypes = [deviceGrantType, "authorization_code", "refresh_token"];
  const client = await findClient(flow, server, { scope: wish.scope, redirectUrl: unusedRedirect, grantTypes });
  const form = toForm({ scope: wish.scope, resource: wish.resource });
  const answer = await flow.outgoing(endpoint, clientForm(client, form), flow.signal);
  const value = parseAnswer(answer);
  if (!isSuccess(answer) || errorCodeOf(value) !== undefined)
    throw new GatewayError(
      "LOGIN_FAILED",
      `${origin} started no device flow: ${errorCodeOf(value) ?? `HTTP ${answer.status}`}`,
    );
  const device = parseDevice(flow, server, value);
  flow.options.device?.(device.shown);
  return { client, answer: await poll(flow, { server, client, device }, wish) };
}

interface Device {
  readonly shown: DeviceCode;
  readonly secret: string;
  readonly intervalMs: number;
}

interface Asking {
  readonly server: AuthorizationServer;
  readonly client: Credential["client"];
  readonly device: Device;
}

async function poll(flow: Flow, { server, client, device }: Asking, { resource }: Wish): Promise<TokenAnswer> {
  const { now } = flow.options;
  const endsAtMs = now() + device.shown.lifetimeMs;
  let lost: unknown;
  for (let { intervalMs } = device; now() + intervalMs < endsAtMs;) {
    await sleep(intervalMs, flow.signal);
    const form = toForm({ grant_type: deviceGrantType, device_code: device.secret, resource });
    const request = { endpoint: server.metadata.tokenEndpoint, client, form, nowMs: now() };
    const answer = await askForTokens(request, flow.outgoing, flow.signal).catch((error: unknown) => {
      if (flow.signal.aborted) throw error;
      lost = error;
      return undefined;
    });
    if (answer?.kind === "tokens") return answer;
    if (answer !== undefined) lost = undefined;
    const { error, status = 0 } = answer ?? {};
    if (error === "authorization_pending") continue;
    // One that cannot be reached for a while, or has too much to do, is asked less often, too (section 3.5).
    if (error === "slow_down" || answer === undefined || status === 429 || status >= 500)
      intervalMs = Math.min(intervalMs + slowerMs, longestIntervalMs);
    else if (error === "access_denied") throw new GatewayError("LOGIN_FAILED", "the login was declined");
    else if (error === "expired_token") break;
    else throw new GatewayError("LOGIN_FAILED", `the authorization server refused: ${answer.reason}`);
  }
  if (lost !== undefined)
    throw new GatewayError("LOGIN_FAILED", `${server.origin} could not be asked any more`, { cause: lost });
  throw new GatewayError("LOGIN_FAILED", "the code was not entered in time");
}

function toForm(members: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const given = Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined);
  return new URLSearchParams(given);
}

/** Section 3.2. Throws LOGIN_FAILED, which names the member that is missing or wrong. */
function parseDevice({ rules, home }: Flow, { origin }: AuthorizationServer, value: JsonObject | undefined): Device {
  const needed = (member: string, longest: number): string => {
    const text = textOf(value, member);
    if (text !== undefined && text.length <= longest) return text;
    throw new GatewayError(
      "LOGIN_FAILED",
      `the answer with which ${origin} starts a device flow ${flawOf(value, member)}`,
    );
  };
  const secret = needed("device_code", longestSecret);
  const code = needed("user_code", longestCode);
  const intervalMs = millisecondsOf(value, "interval") ?? usualIntervalMs;
  return {
    shown: {
      code,
      url: checkUrl(needed("verification_uri", longestUrl), rules, home).href,
      lifetimeMs: Math.min(millisecondsOf(value, "expires_in") ?? longestWaitMs, longestWaitMs),
    },
    secret,
    intervalMs: Math.min(Math.max(intervalMs, shortestIntervalMs), longestIntervalMs),
  };
}
