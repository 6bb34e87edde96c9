import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { abortReason } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isLoopbackHost, type AddressRules } from "./protocol/addresses.ts";
import {
  redirects,
  usualLimits,
  type ExchangeLimits,
  exchangeRouted,
  tooLarge,
  tooSlow,
  type LoginAnswer,
  type LoginRoute,
} from "./flow/login-route.ts";

interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** False: a redirect is returned as it is. */
  readonly follows?: boolean;
  /** Those of a login where there are none. */
  readonly limits?: ExchangeLimits;
}

export type OutgoingAnswer = LoginAnswer;

/** The server that somebody logs in at. */
export interface LoginPlace {
  /** Its URL as it is configured. */
  readonly serverUrl: string;
  readonly route: LoginRoute;
}

/** One exchange with a server or an authorization server. Rejects with LOGIN_FAILED, or the signal's reason. */
export type Outgoing = (url: string, request: OutgoingRequest, signal: AbortSignal) => Promise<OutgoingAnswer>;

/**
 * The only way that a login and a refresh reach the network: http(s) without user and password, to addresses within
 * reach, with limits on time and size. A GET without credentials follows three redirects, everything else none, so
 * that no secret goes where it was not meant to.
 */
export function createOutgoing(rules: AddressRules, { serverUrl, route }: LoginPlace): Outgoing {
  const home = new URL(serverUrl).origin;

  async function exchange(url: URL, request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
    if (signal.aborted) throw abortReason(signal);
    const headers = { "user-agent": "toolyard", accept: "application/json", ...request.headers };
    const routed = await route(url, rules.lookup);
    if (routed === undefined) return await exchangePlainly(url, { ...request, headers }, rules, signal);
    if (routed.isProxied && url.origin !== home) await rules.checkName(url.hostname);
    const body = request.body === undefined ? null : Buffer.from(request.body, "utf8").toString("latin1");
    const wanted = { method: request.method, headers: Object.entries(headers).flat(), body, limits: request.limits };
    return await exchangeRouted(routed.createClient, url, wanted, signal);
  }

  return async (url, request, signal) => {
    const mayFollow = request.follows !== false;
    const follows = mayFollow && request.method === "GET" && request.headers["authorization"] === undefined;
    let target: URL = checkUrl(url, rules, home);
    for (let hops = 0; ; hops += 1) {
      const answer = await exchange(target, request, signal);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || location === undefined || !follows) return answer;
      if (hops === redirects)
        throw new GatewayError(
          "LOGIN_FAILED",
          `${target.origin} redirects again and again: stopped after ${redirects}`,
        );
      if (!URL.canParse(location, target.href))
        throw new GatewayError("LOGIN_FAILED", `${target.origin} redirects to something that is no URL`);
      target = checkUrl(new URL(location, target).href, rules, home);
    }
  };
}

/**
 * Plain http is for this machine, and for the server itself where it was configured so. Throws LOGIN_FAILED; the
 * message holds no path.
 */
export function checkUrl(text: string, rules: AddressRules, home: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new GatewayError(
      "LOGIN_FAILED",
      `the server names a URL that is not http or https${url === undefined ? "" : ` (${url.protocol.slice(0, 20)})`}`,
    );
  }
  if (url.username !== "" || url.password !== "")
    throw new GatewayError("LOGIN_FAILED", `the server names a URL on ${url.host} that holds a user name or password`);
  if (url.origin === home) return url;
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname))
    throw new GatewayError("LOGIN_FAILED", `${url.origin} is not encrypted: a login goes over https only`);
  rules.checkHost(url.hostname);
  return url;
}

/** Without a proxy, and with the authorities that Node trusts. */
async function exchangePlainly(
  url: URL,
  request: OutgoingRequest,
  rules: AddressRules,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  const open = url.protocol === "https:" ? (await import("node:https")).request : requestHttp;
  const options: RequestOptions = {
    method: request.method,
    headers: {
      ...request.headers,
      ...(request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) }),
    },
    agent: false,
    lookup: rules.lookup,
  };
  const { limits = usualLimits } = request;
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  return await new Promise((resolve, reject) => {
    const outgoing = open(url, options, (response) => {
      readAnswer(url, response, limits).then(resolve, (error: unknown) => {
        outgoing.destroy();
        reject(error);
      });
    });
    const giveUp = (): void => void outgoing.destroy(signal.aborted ? abortReason(signal) : tooSlow(url, limits));
    for (const reason of [signal, deadline]) reason.addEventListener("abort", giveUp, { once: true });
    outgoing.once("close", () => signal.removeEventListener("abort", giveUp));
    outgoing.on("error", (error: NodeJS.ErrnoException) =>
      reject(signal.aborted || error instanceof GatewayError ? error : unreachable(url, error)),
    );
    outgoing.end(request.body);
  });
}

function unreachable(url: URL, error: NodeJS.ErrnoException): GatewayError {
  return new GatewayError("LOGIN_FAILED", `${url.origin} cannot be reached (${error.code ?? error.name})`, {
    cause: error,
  });
}

async function readAnswer(url: URL, response: IncomingMessage, limits: ExchangeLimits): Promise<OutgoingAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.bytes) throw tooLarge(url, limits);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : unreachable(url, error as NodeJS.ErrnoException);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(chunks) };
}
