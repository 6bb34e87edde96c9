import type { JsonObject } from "../text/json-bytes.ts";
import type { IncomingHttpHeaders } from "node:http";

/** Names and values as OpenTelemetry's conventions have them. Never arguments, results, people or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** `server`: a client asked the gateway. `client`: the gateway asks a server. `internal`: neither. */
  readonly kind: "server" | "client" | "internal";
  /** The `_meta` whose `traceparent` is the parent; without one, a trace begins. */
  readonly parent: JsonObject | undefined;
  readonly attributes: SpanAttributes;
}

/** A piece of work in a trace. None of its methods throws. */
export interface TraceSpan {
  /** The same `_meta`, with this span as the parent of work done with it. */
  toMeta(meta: JsonObject | undefined): JsonObject;
  set(attributes: SpanAttributes): void;
  /** Says that the other span, of another trace, has to do with this one. */
  linkTo(other: TraceSpan): void;
  /** Call it once. `failure` is a word from a small set: a failure's code, `tool_error`, a JSON-RPC code. */
  end(failure?: string): void;
}

/** Begins spans. Implemented by `records/`, which loads OpenTelemetry only when the environment asks for traces. */
export interface Tracing {
  begin(start: SpanStart): TraceSpan;
}

/**
 * Where the parts of a gateway find the tracing. Parts are given none while traces are off, so that these cost
 * nothing; `current` is undefined until the code is loaded, and if it cannot be.
 */
export interface TraceSource {
  readonly current: Tracing | undefined;
}

/**
 * The position of a request in a trace (W3C Trace Context, W3C Baggage). Over MCP it is carried by the keys of the same
 * names in `_meta` (SEP-414), and over HTTP by headers as well.
 */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** `version-traceid-parentid-flags`; versions after 00 may be followed by more (W3C Trace Context, 3.2 and 4.3). */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]{0,400})?$/;
/** What a header may contain; anything else could begin another header. */
const printable = /^[\t -~]+$/;
/** A vendor must be able to pass on this many characters (W3C Trace Context, 3.3.1.5); longer ones are dropped. */
const longestTracestate = 512;
/** The most that has to be passed on (W3C Baggage, 3.3.2). */
const longestBaggage = 8_192;

/** The parts of a valid `traceparent`. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** Undefined for whatever is not a valid `traceparent`, which a receiver has to ignore. */
export function parseTraceparent(text: unknown): TraceParent | undefined {
  const found = typeof text === "string" ? traceparentForm.exec(text) : null;
  if (found === null) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = found;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** What the headers of a request say. Undefined for nearly all requests, at the price of one look-up. */
export function traceContextOf(headers: IncomingHttpHeaders): TraceContext | undefined {
  return headers["traceparent"] === undefined ? undefined : readTraceContext(headers);
}

/** What `_meta`, or an object of headers, says; undefined without a valid `traceparent`. */
export function readTraceContext(from: { readonly [key: string]: unknown }): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = from;
  if (parseTraceparent(traceparent) === undefined) return undefined;
  return {
    traceparent: traceparent as string,
    tracestate: isPassable(tracestate, longestTracestate) ? tracestate : undefined,
    baggage: isPassable(baggage, longestBaggage) ? baggage : undefined,
  };
}

function isPassable(value: unknown, longest: number): value is string {
  return typeof value === "string" && value.length <= longest && printable.test(value);
}

/**
 * `_meta` with what the client's headers said. A `traceparent` in `_meta` takes precedence: it is the client's own
 * span, while the header may have been written by its HTTP library or a proxy.
 */
export function withTraceContext(meta: JsonObject | undefined, { traceparent, ...rest }: TraceContext): JsonObject {
  if (parseTraceparent(meta?.["traceparent"]) !== undefined) return meta as JsonObject;
  return {
    ...meta,
    traceparent,
    ...(rest.tracestate === undefined ? undefined : { tracestate: rest.tracestate }),
    ...(rest.baggage === undefined ? undefined : { baggage: rest.baggage }),
  };
}

/**
 * The headers of an HTTP request with what its `_meta` says of the trace: names and values in turn, and the same array
 * if that is nothing.
 */
export function withTraceHeaders(headers: readonly string[], meta: JsonObject | undefined): readonly string[] {
  if (meta?.["traceparent"] === undefined) return headers;
  const context = readTraceContext(meta);
  if (context === undefined) return headers;
  const all = [...headers, "traceparent", context.traceparent];
  if (context.tracestate !== undefined) all.push("tracestate", context.tracestate);
  if (context.baggage !== undefined) all.push("baggage", context.baggage);
  return all;
}
