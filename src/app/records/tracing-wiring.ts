import { readTraceSettings } from "../../config/rows/trace-settings.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { TraceSource, Tracing } from "../../kernel/runtime/tracing.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { createMetrics, type Metrics } from "../../records/telemetry/metrics.ts";
import type { Engine } from "../engine/engine-wing.ts";
import type { McpFront } from "../engine/mcp-front.ts";
import type { Records } from "./records-wing.ts";
import type { Servers } from "../servers/servers-wing.ts";

export interface TracingDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly log: Log;
  readonly loadLate: LoadLate;
  readonly redact: (text: string) => string;
}

export interface GatewayTracing {
  readonly source: TraceSource;
  /** Settles when the code is loaded, or cannot be. Never rejects. */
  readonly ready: Promise<void>;
  /** Sends the spans that still wait. */
  close(): Promise<void>;
}

/**
 * Traces, if the environment asks for them: undefined otherwise, and nothing of OpenTelemetry is loaded. Failures are
 * logged, because a gateway without a collector serves its clients all the same.
 */
export function createTracing({
  environment,
  version,
  log,
  loadLate,
  redact,
}: TracingDeps): GatewayTracing | undefined {
  const about = { component: "traces" };
  const { settings, warnings } = readTraceSettings(environment);
  for (const warning of warnings) log.warn(about, warning);
  if (settings === undefined) return undefined;
  let current: Tracing | undefined;
  let close: () => Promise<void> = async () => undefined;

  async function load(): Promise<void> {
    try {
      const { createTraces } = await loadLate(
        "the sending of traces",
        async () => await import("../../records/telemetry/traces.ts"),
      );
      const traces = createTraces({
        settings: settings as NonNullable<typeof settings>,
        version,
        redact,
        onFailure: (reason) => log.warn(about, `traces could not be sent: ${reason}`),
      });
      current = traces;
      close = traces.close;
    } catch (error) {
      log.warn({ ...about, err: error }, "there are no traces, because their code could not be loaded");
    }
  }

  return {
    source: {
      get current() {
        return current;
      },
    },
    ready: load(),
    close: async () => await close(),
  };
}

export interface MetricsDeps {
  readonly events: EventBus;
  readonly version: string;
  readonly servers: Servers;
  readonly engine: Engine;
  readonly mcp: McpFront;
  readonly records: Pick<Records, "store">;
}

/** The metrics of a gateway: its events, and what its wings say of themselves when they are asked. */
export function createGatewayMetrics({ servers, engine, mcp, records, ...deps }: MetricsDeps): Metrics {
  const { fleet } = servers;
  return createMetrics({
    ...deps,
    instances: () => fleet.all(),
    nodes: () => servers.cluster?.joined?.desk.list(),
    storeFigures: () => records.store()?.figures(),
    figures: () => ({
      requestsInFlight: engine.performer.inFlight,
      waitingCalls: fleet.all().reduce((sum, instance) => sum + instance.waiting, 0),
      waitingStarts: servers.waitingStarts,
      sessions: mcp.parts.sessions.size,
      streams: mcp.parts.admission.streams,
      kept: engine.keptFigures(),
    }),
  });
}
