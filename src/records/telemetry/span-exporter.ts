import { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { TraceSettings } from "../../config/rows/trace-settings.ts";

/** Exports that may be on their way at the same time; the same number as OpenTelemetry's own exporters have. */
const parallelExports = 30;
const warnEveryMs = 60_000;

/**
 * Sends spans to a collector over OTLP/HTTP. Made of the pieces that OpenTelemetry's exporters are made of, because
 * those read the process's environment themselves.
 */
export function createSpanExporter(settings: TraceSettings, onFailure: (reason: string) => void): SpanExporter {
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
