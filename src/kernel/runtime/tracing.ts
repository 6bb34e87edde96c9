import type { JsonObject } from "../text/json-bytes.ts";

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
