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
import { basicAuthorization, isHeaderName, isHeaderValue } from "../../kernel/text/header-value.ts";
import { ResponseHead } from "./response-head.ts";

/** What the network of a company may require beyond a plain connection. */
export interface HttpRouteOptions {
  /** URL of an HTTP proxy, with user and password where it needs them. */
  readonly proxy: string | undefined;
  readonly tls: TlsMaterial | undefined;
  /** Resolves names in place of the system's. A proxy resolves them itself. */
  readonly lookup?: LookupFunction | undefined;
}

/** Certificates and keys as PEM texts. */
export interface TlsMaterial {
  /** Trusted instead of the authorities that Node trusts by default. */
  readonly ca?: string | undefined;
  /** The client certificate that we present. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
}

/**
 * How long an idle connection is kept when the server says nothing about it, the most that a server may say, and how
 * much sooner than it says we close it. The values are those of our own pool.
 */
const idleMs = 4_000;
const mostIdleMs = 300_000;
const safetyMs = 1_000;

/**
 * An HTTP client that supports proxies, private certificate authorities and client certificates. It is slower than
 * our own pool, and is loaded only when a server needs it.
 */
export function createUndiciClient(options: HttpClientOptions & HttpRouteOptions): HttpClient {
  const route = routeTo(options);
  const usual = route.open(options.connections);
  /** Connections for urgent requests: those of `usual` may all be in use by calls that wait for an urgent request. */
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
        new UndiciExchange(handler, () => isClosed),
      );
    }
  }

  return {
    send: (request, handler) => void setImmediate(dispatch, request, handler),
    close() {
      isClosed = true;
      // Neither promise rejects, and each request in flight is reported to its handler.
      void usual.destroy().catch(() => undefined);
      void urgent?.destroy().catch(() => undefined);
    },
  };
}

const disposed: TransportFailure = Object.freeze({ kind: "disposed", reason: "" });

interface Route {
  readonly open: (connections: number) => Dispatcher;
  /** Prefix of every path: a proxy that is used without a tunnel expects the whole URL. */
  readonly pathStart: string;
  readonly headersFor: (given: readonly string[]) => readonly string[];
}

function routeTo({ origin, proxy, tls, lookup, connectTimeoutMs }: HttpClientOptions & HttpRouteOptions): Route {
  const common = {
    // Deadlines belong to the caller, so undici gets none.
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
  // For an http: URL the proxy gets the whole URL (RFC 9112, section 3.2.2) instead of CONNECT: many proxies allow
  // CONNECT only to ports for TLS.
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
        // A proxy that accepts the connection but never answers CONNECT counts as one that cannot be connected to.
        clientFactory: (to, given) => new Pool(to, { ...given, headersTimeout: connectTimeoutMs }),
      }),
  };
}

/** Without undefined members, because node:tls does not treat those as absent. */
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

/** One request and its response, translated from undici's callbacks to a ResponseHandler. */
class UndiciExchange implements Dispatcher.DispatchHandler, RequestInFlight {
  readonly #handler: ResponseHandler;
  readonly #isClosed: () => boolean;
  #controller: Dispatcher.DispatchController | undefined;
  /** The handler must not be called any more. */
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

  pause(handler: ResponseHandler): void {
    if (!this.#isOver && handler === this.#handler) this.#controller?.pause();
  }

  resume(handler: ResponseHandler): void {
    if (!this.#isOver && handler === this.#handler) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#handler.onConnected(this)) return;
    this.#isOver = true;
    // An error thrown here cancels the request and leaves the connection to others; `abort` would close the
    // connection.
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
    // The parser's errors have no code when the response is not HTTP at all.
    if (error.name === "HTTPParserError" || malformedCodes.has(code))
      return { kind: "malformed", reason: error.message };
    return { kind: "closed", reason: code.startsWith("UND_") ? "" : code };
  }
}

const malformedCodes: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
]);

/**
 * Why connecting failed: the operating system's code where there is one, as our own pool reports it, or the proxy's
 * answer to CONNECT.
 */
function connectReason(error: NodeJS.ErrnoException): string {
  const refused = /^Proxy response \((\d{3})\)/.exec(error.message)?.[1];
  if (refused !== undefined) return `the proxy answered CONNECT with HTTP ${refused}`;
  if (error.code === "UND_ERR_CONNECT_TIMEOUT" || error.code === "UND_ERR_HEADERS_TIMEOUT") return "ETIMEDOUT";
  const cause = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : undefined;
  return cause ?? error.code ?? error.message;
}

/** The head as text, as it would have arrived on the wire, which `ResponseHead` expects. */
function headText(status: number, rawHeaders: Dispatcher.DispatchController["rawHeaders"]): string {
  let text = `HTTP/1.1 ${status} `;
  const raw = rawHeaders as readonly (Buffer | string)[];
  for (let at = 0; at + 1 < raw.length; at += 2) text += `\r\n${toLatin1(raw[at])}: ${toLatin1(raw[at + 1])}`;
  return text;
}

function toLatin1(part: Buffer | string | undefined): string {
  return typeof part === "string" ? part : (part?.toString("latin1") ?? "");
}
