import { request as requestHttp, type IncomingMessage } from "node:http";
import { untilAborted } from "../../kernel/runtime/abort.ts";
import type { HttpRequest } from "./http-client.ts";
import { proxyFromVariables } from "./proxy-variables.ts";
import { sendWhole } from "./whole-response.ts";

export interface PlainRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** May name a proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). Absent: the address is asked directly. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** More is an error. Without it, the first 256 KB are the answer: more says nothing that a check asks for. */
  readonly mostBytes?: number;
}

export interface PlainAnswer {
  readonly status: number;
  readonly text: string;
  /** The first value; undefined where there is none. */
  header(name: string): string | undefined;
}

const usualBytes = 256 * 1024;
/** A proxy that does not take the connection by then is not there. */
const connectMs = 10_000;
/** Packages are looked up under other spellings of their names, and registries move. */
const mostRedirects = 3;

/**
 * One request by a connection of its own. Redirects are not followed, so that the answer is that of this address. Not
 * by fetch, which refuses some ports that gateways may have, and knows no proxy. Rejects with the system's error, and
 * with the signal's.
 */
export async function requestPlainly(asked: PlainRequest): Promise<PlainAnswer> {
  const url = new URL(asked.url);
  const proxy = asked.env === undefined ? undefined : proxyFromVariables(url, asked.env);
  return proxy === undefined ? await requestDirectly(asked, url) : await requestThrough(proxy, asked, url);
}

/** The same for a GET without credentials, whose answer may be elsewhere. */
export async function getFollowing(asked: Omit<PlainRequest, "method" | "body">): Promise<PlainAnswer> {
  let { url } = asked;
  for (let hops = 0; ; hops += 1) {
    const answer = await requestPlainly({ ...asked, url, method: "GET" });
    const location = answer.header("location");
    if (answer.status < 300 || answer.status >= 400 || location === undefined) return answer;
    if (hops === mostRedirects) throw new Error("it redirects again and again");
    const next = new URL(location, url);
    if (next.protocol !== "https:" && next.protocol !== new URL(url).protocol)
      throw new Error(`it redirects to ${next.protocol}`);
    url = next.href;
  }
}

async function requestDirectly(asked: PlainRequest, url: URL): Promise<PlainAnswer> {
  const { method, headers, signal, body, mostBytes } = asked;
  const request = url.protocol === "https:" ? (await import("node:https")).request : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, headers, signal, agent: false }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (mostBytes !== undefined && bytes > mostBytes) throw tooLong(mostBytes);
    chunks.push(chunk);
    if (mostBytes === undefined && bytes > usualBytes) break;
  }
  return {
    status: response.statusCode ?? 0,
    text: Buffer.concat(chunks).toString("utf8"),
    header: (name) => [response.headers[name]].flat()[0],
  };
}

async function requestThrough(proxy: string, asked: PlainRequest, url: URL): Promise<PlainAnswer> {
  const { signal, headers, body, method, mostBytes } = asked;
  const { createUndiciClient } = await import("./undici-client.ts");
  signal.throwIfAborted();
  const { origin } = url;
  const client = createUndiciClient({
    ...{ origin, connections: 1, reserved: 1, connectTimeoutMs: connectMs, proxy, tls: undefined },
  });
  const wanted: HttpRequest = {
    method,
    path: `${url.pathname}${url.search}`,
    headers: Object.entries({ "user-agent": "toolyard", ...headers }).flat(),
    body: body === undefined ? null : Buffer.from(body, "utf8").toString("latin1"),
  };
  const sending = sendWhole(client, wanted, {
    mostBytes: mostBytes ?? usualBytes,
    tooLong: mostBytes === undefined ? undefined : () => tooLong(mostBytes),
    toError: ({ kind, reason }) => new Error(reason === "" ? kind : reason),
  });
  try {
    const { head, body: text } = await untilAborted(sending, signal);
    return { status: head.status, text: text.toString("utf8"), header: (name) => head.getAll(name)[0] };
  } finally {
    client.close();
  }
}

function tooLong(mostBytes: number): Error {
  return new Error(`its answer is longer than ${mostBytes} bytes`);
}

/** Why a request failed, in the shortest words. Some put the reason into the cause. */
export function toReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === "string" && code !== "" ? code : String(message ?? cause);
}
