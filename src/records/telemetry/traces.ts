import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";
import type { TraceSampler, TraceSettings } from "../../config/rows/trace-settings.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import {
  parseTraceparent,
  type SpanAttributes,
  type SpanStart,
  type TraceSpan,
  type Tracing,
} from "../../kernel/runtime/tracing.ts";
import { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";

/** Exports that may be on their way at the same time; the same number as OpenTelemetry's own exporters have. */
const parallelExports = 30;
const warnEveryMs = 60_000;

/**
 * Sends spans to a collector over OTLP/HTTP. Made of the pieces that OpenTelemetry's exporters are made of, because
 * those read the process's environment themselves.
 */
function createSpanExporter(settings: TraceSettings, onFailure: (reason: string) => void): SpanExporter {
  const { url, headers, compression, timeoutMs, format } = settings;
  const delegate = createOtlpHttpExportDelegate(
    {
      url,
      headers: async () => ({
        ...headers,
        "Content-Type": format === "json" ? "application/json" : "application/x-protobuf",
      }),
      timeoutMillis: timeoutMs,
      concurrencyLimit: parallelExports,
      compression,
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
    },
    format === "json" ? JsonTraceSerializer : ProtobufTraceSerializer,
    format === "json" ? "otlp_http_json_span_exporter" : "otlp_http_span_exporter",
    TraceExporterMetricsHelper,
    undefined,
  );
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      delegate.export(spans, (result) => {
        if (result.error !== undefined && performance.now() - warnedMs > warnEveryMs) {
          warnedMs = performance.now();
          onFailure(withoutHeaders(result.error.message, headers));
        }
        done(result);
      });
    },
    forceFlush: async () => await delegate.forceFlush(),
    shutdown: async () => await delegate.shutdown(),
  };
}

/** A collector that refuses a credential may quote it. */
function withoutHeaders(message: string, headers: TraceSettings["headers"]): string {
  const values = Object.values(headers).filter((value) => value !== "");
  return values.reduce((text, value) => text.replaceAll(value, "[redacted]"), message).slice(0, 300);
}

export interface TracesDeps {
  readonly settings: TraceSettings;
  readonly version: string;
  /** Removes secrets from names that servers gave themselves. */
  readonly redact: (text: string) => string;
  /** Called when spans could not be sent, with the reason; at most once a minute. */
  readonly onFailure: (reason: string) => void;
}

/** Tracing that sends what was recorded, until it is closed. */
export interface Traces extends Tracing {
  /** Sends the spans that still wait. Resolves when that is done or has failed; takes no longer than one export may. */
  close(): Promise<void>;
}

/** Longer values say nothing more; names come from servers, which may write as much as they like. */
const longestValue = 256;

const kinds: Readonly<Record<SpanStart["kind"], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/**
 * Traces by OpenTelemetry's own implementation. It is not registered as the process's global one, so that a program
 * that embeds a gateway keeps its own.
 */
export function createTraces({ settings, version, redact, onFailure }: TracesDeps): Traces {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.version": version, ...settings.resource }),
    sampler: toSampler(settings.sampler),
    spanLimits: { attributeValueLengthLimit: longestValue, attributeCountLimit: 32, linkCountLimit: 8 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: createSpanExporter(settings, onFailure),
        scheduledDelayMillis: settings.delayMs,
        exportTimeoutMillis: settings.timeoutMs,
        maxQueueSize: settings.queuedSpans,
        maxExportBatchSize: settings.batchSpans,
      }),
    ],
  });
  const spans = new WeakMap<TraceSpan, Span>();
  const tracer = provider.getTracer("toolyard", version);

  function clean(attributes: SpanAttributes): Record<string, string | number> {
    const kept: Record<string, string | number> = {};
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) kept[key] = typeof value === "string" ? redact(value) : value;
    }
    return kept;
  }

  return {
    begin({ name, kind, parent, attributes }) {
      const options = { kind: kinds[kind], attributes: clean(attributes) };
      const span = tracer.startSpan(redact(name).slice(0, longestValue), options, parentOf(parent));
      return toTraceSpan(span, clean, spans);
    },
    close: async () => await provider.shutdown().catch(() => undefined),
  };
}

/** @param spans the span of OpenTelemetry behind each of ours, for links */
function toTraceSpan(
  span: Span,
  clean: (attributes: SpanAttributes) => Record<string, string | number>,
  spans: WeakMap<TraceSpan, Span>,
): TraceSpan {
  const own: TraceSpan = {
    toMeta(meta) {
      const { traceId, spanId, traceFlags, traceState } = span.spanContext();
      const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
      const { tracestate: _before, ...rest } = meta ?? {};
      const tracestate = traceState?.serialize();
      return { ...rest, traceparent, ...(tracestate === undefined || tracestate === "" ? undefined : { tracestate }) };
    },
    set: (attributes) => void span.setAttributes(clean(attributes)),
    linkTo(other) {
      const linked = spans.get(other);
      if (linked !== undefined) span.addLink({ context: linked.spanContext() });
    },
    end(failure) {
      if (failure !== undefined) span.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
  spans.set(own, span);
  return own;
}

function parentOf(meta: JsonObject | undefined): Context {
  const parent = parseTraceparent(meta?.["traceparent"]);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  const state = meta?.["tracestate"];
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof state === "string" ? { traceState: createTraceState(state) } : {}),
  });
}

function toSampler({ ratio, isParentBased }: TraceSampler): Sampler {
  const root =
    ratio === 1 ? new AlwaysOnSampler() : ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}
