import type { LookupFunction } from "node:net";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { CreateHttpClient, HttpRequest, TransportFailure } from "../../../wire/http/http-client.ts";
import { sendWhole, type WholeResponse } from "../../../wire/http/whole-response.ts";

/** Largest document or token answer that is read: real ones are below 20 KB (fault 105: 10 MB). */
export const answerBytes = 256 * 1024;
/** From the first byte out to the last byte in; an authorization server that takes longer is down. */
const exchangeTimeoutMs = 15_000;

/** What one exchange may take. */
export interface ExchangeLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

export const usualLimits: ExchangeLimits = Object.freeze({ bytes: answerBytes, timeoutMs: exchangeTimeoutMs });
/** Redirects of a metadata document. Requests that carry a secret follow none (faults 103, 105). */
export const redirects = 3;
/** How long a person may take in the browser. */
export const loginTimeoutMs = 300_000;
/** A token is renewed this long before it expires, or after four fifths of its life where that is later. */
export const renewBeforeMs = 60_000;
/** An authorization server that did not answer is not asked again before this. */
export const renewRetryMs = 30_000;
/** How often a connection in use looks whether somebody logged in or out: one stat. */
export const recheckMs = 2_000;

/**
 * How a login of one server reaches a URL: undefined where a plain connection does. What the server's entry says of
 * proxies and certificates holds here as it does for calls.
 */
export type LoginRoute = (url: URL, lookup: LookupFunction) => Promise<RoutedClient | undefined>;

export interface RoutedClient {
  readonly createClient: CreateHttpClient;
  /** A proxy resolves the name, and not the `lookup` that was given. */
  readonly isProxied: boolean;
}

export interface LoginAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whole; never more than its limits allow. */
  readonly body: Buffer;
}

/** The headers of an answer that a login reads. */
const readHeaders = ["content-type", "location", "www-authenticate"] as const;

/**
 * One exchange over a client of its own, closed behind it. Rejects with LOGIN_FAILED after the time that its limits
 * allow, or with the signal's reason.
 */
export async function exchangeRouted(
  createClient: CreateHttpClient,
  url: URL,
  {
    limits = usualLimits,
    ...request
  }: Pick<HttpRequest, "method" | "headers" | "body"> & { readonly limits?: ExchangeLimits | undefined },
  signal: AbortSignal,
): Promise<LoginAnswer> {
  const client = createClient({
    origin: url.origin,
    connections: 1,
    reserved: 1,
    connectTimeoutMs: exchangeTimeoutMs,
  });
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const ended = new AbortController();
  try {
    return await new Promise((resolve, reject) => {
      const once = { once: true, signal: ended.signal };
      signal.addEventListener("abort", () => reject(abortReason(signal)), once);
      deadline.addEventListener("abort", () => reject(tooSlow(url, limits)), once);
      const sent = { ...request, path: `${url.pathname}${url.search}` };
      sendWhole(client, sent, {
        mostBytes: limits.bytes,
        tooLong: () => tooLarge(url, limits),
        toError: (failure) => unreachable(url, failure),
      }).then((response) => resolve(toAnswer(response)), reject);
    });
  } finally {
    ended.abort();
    client.close();
  }
}

function toAnswer({ head, body }: WholeResponse): LoginAnswer {
  const headers: Record<string, string> = {};
  for (const name of readHeaders) {
    const values = head.getAll(name);
    if (values.length > 0) headers[name] = values.join(", ");
  }
  return { status: head.status, headers, body };
}

function unreachable(url: URL, { kind, reason }: TransportFailure): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${url.origin} cannot be reached (${reason === "" ? kind : reason})`);
}

export function tooLarge(url: URL, { bytes }: ExchangeLimits): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${url.origin} answered with more than ${bytes / 1024} KB`);
}

export function tooSlow(url: URL, { timeoutMs }: ExchangeLimits): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${url.origin} did not answer within ${timeoutMs / 1_000} s`);
}
