import { IncomingMessage } from "node:http";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { createLimits, sendersOf, type Limits, type LimitsDeps } from "../login-attempts.ts";
import { normalizeClient } from "./client-metadata.ts";
import { oauthPaths } from "./provider.ts";

/**
 * Makes what apps send into what the library takes. Rejects with RATE_LIMITED when too many register or try codes of
 * devices, and with BODY_TOO_LARGE.
 */
export type Normalizer = (request: IncomingMessage, path: string, ip: string | null) => Promise<IncomingMessage>;

export interface NormalizerOptions extends LimitsDeps {
  /** Everything that can be asked for. */
  readonly scopes: readonly string[];
  /** The scopes of an app that names none. */
  readonly usualScopes: readonly string[];
}

const hourMs = 3_600_000;
/** From one address in an hour; claude.ai registers twice for each login. */
const mostRegistrations = 20;
/** The same where a proxy hides who asks. */
const mostFromAnywhere = 200;
/** Codes of devices that one address may try within ten minutes; each login takes two requests. */
const mostCodes = 30;
const mostCodesFromAnywhere = 300;
const codesMs = 600_000;
/** The most that is kept of an app for 90 days: the known ones have a few hundred bytes to say. */
const mostKeptBytes = 8 * 1024;

/** For one authorization server: it counts who registers. */
export function createNormalizer(deps: NormalizerOptions): Normalizer {
  const registrations = createLimits(deps, "registration", hourMs);
  const codes = createLimits(deps, "code", codesMs);

  async function count(limits: Limits, ip: string | null, most: number, mostOfAll: number): Promise<void> {
    const senders = sendersOf(ip).map((key) => ({ key, most }));
    await limits.take(senders.length > 0 ? senders : [{ key: "anybody", most: mostOfAll }]);
  }

  function fixScope(scope: string | null): string {
    const asked = scope?.split(" ").filter((one) => deps.scopes.includes(one) || one === "offline_access") ?? [];
    return [...(asked.some((one) => one !== "offline_access") ? [] : deps.usualScopes), ...asked].join(" ");
  }

  /** Apps leave out scopes, and name some that are not ours. */
  return async (request, path, ip) => {
    if (path === oauthPaths.authorization) {
      const url = new URL(request.url ?? "/", "http://gateway");
      url.searchParams.set("scope", fixScope(url.searchParams.get("scope")));
      fixPrompt(url.searchParams);
      request.url = `${url.pathname}${url.search}`;
      return request;
    }
    if (request.method !== "POST") return request;
    if (path === oauthPaths.registration) {
      await count(registrations, ip, mostRegistrations, mostFromAnywhere);
      const kept = normalizeRegistration(await readSmallBody(request));
      if (Buffer.byteLength(kept) > mostKeptBytes)
        throw new GatewayError("BODY_TOO_LARGE", `an app says at most ${mostKeptBytes} bytes of itself`);
      return withBody(request, kept);
    }
    if (path === oauthPaths.code_verification) await count(codes, ip, mostCodes, mostCodesFromAnywhere);
    if (path !== oauthPaths.token && path !== oauthPaths.device_authorization) return request;
    const form = new URLSearchParams(await readSmallBody(request));
    if (path === oauthPaths.device_authorization) form.set("scope", fixScope(form.get("scope")));
    else if (form.get("grant_type") === "refresh_token") fixRefresh(form, deps.scopes);
    return withBody(request, form.toString());
  };
}

/** A prompt that the library does not know is an error to it. */
function fixPrompt(query: URLSearchParams): void {
  const known = query
    .get("prompt")
    ?.split(" ")
    .filter((prompt) => ["login", "consent", "none"].includes(prompt));
  if (known === undefined) return;
  if (known.length === 0) query.delete("prompt");
  else query.set("prompt", known.join(" "));
}

/** Apps ask again for everything that they once asked for, also for what they were not given. */
function fixRefresh(form: URLSearchParams, scopes: readonly string[]): void {
  const asked =
    form
      .get("scope")
      ?.split(" ")
      .filter((scope) => scopes.includes(scope)) ?? [];
  if (asked.length === 0) form.delete("scope");
  else form.set("scope", asked.join(" "));
}

function normalizeRegistration(body: string): string {
  try {
    const given = JSON.parse(body) as unknown;
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    return isObject ? JSON.stringify(normalizeClient(given as Readonly<Record<string, unknown>>)) : body;
  } catch {
    // The library names the fault.
    return body;
  }
}

/** Registrations and token requests are a few hundred bytes. */
const mostBytes = 56 * 1024;

/** Rejects with BODY_TOO_LARGE. */
export async function readSmallBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new GatewayError("BODY_TOO_LARGE", `the body has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The same request with another body. */
function withBody(request: IncomingMessage, body: string): IncomingMessage {
  const rewritten = new IncomingMessage(request.socket);
  const { method, url, httpVersion, headers } = request;
  const length = String(Buffer.byteLength(body));
  Object.assign(rewritten, { method, url, httpVersion, complete: true });
  rewritten.headers = { ...headers, "content-length": length };
  delete rewritten.headers["transfer-encoding"];
  rewritten.push(body);
  rewritten.push(null);
  return rewritten;
}

/**
 * Makes a request look as if it had come to the gateway's own address: the library makes its URLs from the headers of a
 * request, and anybody can write there what they like.
 */
export function asReachedAt(request: IncomingMessage, base: string, target: string): void {
  const { host, protocol, pathname } = new URL(base);
  for (const name of Object.keys(request.headers)) if (name.startsWith("x-forwarded-")) delete request.headers[name];
  delete request.headers["forwarded"];
  Object.assign(request.headers, { host, "x-forwarded-proto": protocol.slice(0, -1) });
  request.url = target;
  const prefix = pathname === "/" ? "" : pathname;
  Object.assign(request, { originalUrl: `${prefix}${target}` });
}
