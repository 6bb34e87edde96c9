import type { EventBus } from "../../kernel/events/event-bus.ts";
import { createMetrics, type Metrics } from "../../records/telemetry/metrics.ts";
import type { Engine } from "../engine/engine-wing.ts";
import type { McpFront } from "../engine/mcp-front.ts";
import type { Records } from "./records-wing.ts";
import type { Servers } from "../servers/servers-wing.ts";

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
