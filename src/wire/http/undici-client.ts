import type { LookupFunction } from "node:net";
import { Pool, ProxyAgent, type Dispatcher } from "undici";
import type {
  HttpClient,
  HttpClientOptions,
  HttpRequest,
  RequestInFlight,
  ResponseHandler,
  TransportFailure,
} from "./http-client.ts";
import { basicAuthorization } from "./basic-authorization.ts";
import { isHeaderName, isHeaderValue } from "../../kernel/header-value.ts";
import { ResponseHead } from "./response-head.ts";

/** What a company's network needs beyond a plain connection. */
export interface HttpRouteOptions {
  /** URL of an HTTP proxy, user and password in it. */
  readonly proxy: string | undefined;
  readonly tls: TlsMaterial | undefined;
  /** Resolves names in place of the system's. A proxy resolves them itself. */
  readonly lookup?: LookupFunction | undefined;
}

/** PEM texts. */
export interface TlsMaterial {
  /** Trusted in place of the authorities that Node trusts. */
  readonly ca?: string | undefined;
  /** What we show of ourselves. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
}

/**
 * How long an idle connection is kept that the server says nothing about, and how much sooner than it says it is
 * closed: as in our own pool.
 */
const idleMs = 4_000;
const mostIdleMs = 300_000;
const safetyMs = 1_000;

/**
 * A client that goes through a proxy, trusts other authorities, and shows a certificate. Slower than our own pool,
 * and loaded only where a server needs it.
 */
export function createUndiciClient(options: HttpClientOptions & HttpRouteOptions): HttpClient {
  const route = routeTo(options);
  const usual = route.open(options.connections);
  /** All connections of the other may be held by calls that wait for what is urgent. */
  let urgent: Dispatcher | undefined;
  let isClosed = false;

  function dispatch(request: HttpRequest, handler: ResponseHandler): void {
    const { method, path, headers, body } = request;
    const problem = headerProblem(headers);
    if (isClosed) handler.onTransportFailure(disposed);
    else if (problem !== undefined) handler.onTransportFailure({ kind: "unsendable", reason: problem });
    else {
      const target = request.isUrgent === true ? (urgent ??= route.open(options.reserved)) : usual;
      target.dispatch(
        {
          origin: options.origin,
          method,
          path: `${route.pathStart}${path}`,
          headers: [...route.headersFor(headers), ...headers],
          body: body === null ? null : Buffer.from(body, "latin1"),
        },
        new Exchange(handler, () => isClosed),
      );
    }
  }

  return {
    send: (request, handler) => void setImmediate(dispatch, request, handler),
    close() {
      isClosed = true;
      // Neither rejects: what is under way is told by its handler.
      void usual.destroy().catch(() => undefined);
      void urgent?.destroy().catch(() => undefined);
    },
  };
}

const disposed: TransportFailure = Object.freeze({ kind: "disposed", reason: "" });

interface Route {
  readonly open: (connections: number) => Dispatcher;
  /** What stands before each path: a proxy that is not tunnelled through is asked for the whole URL. */
  readonly pathStart: string;
  readonly headersFor: (given: readonly string[]) => readonly string[];
}

function routeTo({ origin, proxy, tls, lookup, connectTimeoutMs }: HttpClientOptions & HttpRouteOptions): Route {
  const common = {
    // The deadlines of whoever made a request are what counts.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: mostIdleMs,
    keepAliveTimeoutThreshold: safetyMs,
  };
  const connect = { timeout: connectTimeoutMs, ...definedOf(tls) };
  const direct = { pathStart: "", headersFor: () => [] };
  if (proxy === undefined) {
    const resolving = lookup === undefined ? connect : { ...connect, lookup };
    return { ...direct, open: (connections) => new Pool(origin, { ...common, connections, connect: resolving }) };
  }
  const url = new URL(proxy);
  const authorization = basicAuthorization(url);
  // Proxies are asked for a plain URL by its name (RFC 9112, section 3.2.2): many let CONNECT through to encrypted
  // ports only.
  if (origin.startsWith("http:")) {
    const host = new URL(origin).host;
    const own = authorization === undefined ? [] : ["proxy-authorization", authorization];
    return {
      pathStart: origin,
      headersFor: (given) => (given.some((name, at) => at % 2 === 0 && name === "host") ? own : ["host", host, ...own]),
      open: (connections) => new Pool(url.origin, { ...common, connections, connect: { timeout: connectTimeoutMs } }),
    };
  }
  return {
    ...direct,
    open: (connections) =>
      new ProxyAgent({
        ...common,
        connections,
        uri: url.origin,
        ...(authorization === undefined ? {} : { token: authorization }),
        requestTls: connect,
        proxyTls: { timeout: connectTimeoutMs },
        // A proxy that takes the connection and never answers CONNECT is one that cannot be connected to.
        clientFactory: (to, given) => new Pool(to, { ...given, headersTimeout: connectTimeoutMs }),
      }),
  };
}

/** Without what is undefined: TLS takes that for a value. */
function definedOf(tls: TlsMaterial | undefined): Record<string, string> {
  const given = Object.entries(tls ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries(given);
}

function headerProblem(headers: readonly string[]): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] as string;
    if (!isHeaderName(name) || !isHeaderValue(headers[at + 1] as string))
      return `the header ${JSON.stringify(name.slice(0, 100))} holds a character that no header may hold`;
  }
  return undefined;
}

/** One request and its response, from undici's words to ours. */
class Exchange implements Dispatcher.DispatchHandler, RequestInFlight {
  readonly #handler: ResponseHandler;
  readonly #isClosed: () => boolean;
  #controller: Dispatcher.DispatchController | undefined;
  /** Nothing more is to be said. */
  #isOver = false;

  constructor(handler: ResponseHandler, isClosed: () => boolean) {
    this.#handler = handler;
    this.#isClosed = isClosed;
  }

  abort(handler: ResponseHandler): void {
    if (this.#isOver || handler !== this.#handler) return;
    this.#isOver = true;
    this.#controller?.abort(new Error("aborted"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#handler.onConnected(this)) return;
    this.#isOver = true;
    // Thrown here it takes the request back, and the connection is left to others; `abort` would close it.
    throw new Error("taken back");
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#isOver || status < 200) return;
    this.#handler.onHead(new ResponseHead(status, headText(status, controller.rawHeaders)));
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#isOver) this.#handler.onBody(bytes, 0, bytes.length);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onComplete();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onTransportFailure(this.#isClosed() ? disposed : this.#failureOf(error));
  }

  #failureOf(error: NodeJS.ErrnoException): TransportFailure {
    const code = error.code ?? "";
    if (code === "UND_ERR_INVALID_ARG") return { kind: "unsendable", reason: error.message };
    if (this.#controller === undefined) return { kind: "connect", reason: connectReason(error) };
    // Its parser's errors have no code for what is no HTTP at all.
    if (error.name === "HTTPParserError" || malformedCodes.has(code))
      return { kind: "malformed", reason: error.message };
    return { kind: "closed", reason: code.startsWith("UND_") ? "" : code };
  }
}

const malformedCodes: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
]);

/** The system's own code where there is one, as our pool says it; of a proxy, what it answered. */
function connectReason(error: NodeJS.ErrnoException): string {
  const refused = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1];
  if (refused !== undefined) return `the proxy answered CONNECT with HTTP ${refused}`;
  if (error.code === "UND_ERR_CONNECT_TIMEOUT" || error.code === "UND_ERR_HEADERS_TIMEOUT") return "ETIMEDOUT";
  const cause = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : undefined;
  return cause ?? error.code ?? error.message;
}

/** The head as it would have come on the wire: `ResponseHead` looks things up in its text. */
function headText(status: number, rawHeaders: Dispatcher.DispatchController["rawHeaders"]): string {
  let text = `HTTP/1.1 ${status} `;
  const raw = rawHeaders as readonly (Buffer | string)[];
  for (let at = 0; at + 1 < raw.length; at += 2) text += `\r\n${toLatin1(raw[at])}: ${toLatin1(raw[at + 1])}`;
  return text;
}

function toLatin1(part: Buffer | string | undefined): string {
  return typeof part === "string" ? part : (part?.toString("latin1") ?? "");
}
