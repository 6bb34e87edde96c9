import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { StoreFigures } from "../../store/record-store.ts";
import { readGatewayFigures, readStoreFigures, type GatewayFigures } from "./figure-metrics.ts";
import { createRuntimeMeters } from "./runtime-meters.ts";
import { createEventMeters, type EventMeters } from "./event-meters.ts";
import type { MetricValue } from "./metric-values.ts";
import { counter, gauge, metricsType, toMetricsText, type Metric } from "./metrics-text.ts";

/**
 * Metrics for Prometheus. They are counted from the start of the gateway, and written as text when they are scraped.
 */
export interface Metrics extends Disposable {
  /** The text of `/metrics`, and its content type. */
  scrape(): { readonly text: string; readonly contentType: string };
}

/** What the metrics are taken from. */
export interface MetricsOptions {
  readonly events: EventBus;
  /** All instances that exist now. */
  readonly instances: () => Iterable<{ readonly status: string }>;
  readonly version: string;
  /** The present sizes of queues and caches. */
  readonly figures: () => GatewayFigures;
  /** Of the store of records, while there is one. */
  readonly storeFigures?: (() => StoreFigures | undefined) | undefined;
}

/** Counts the events of `events` until it is disposed. */
export function createMetrics(options: MetricsOptions): Metrics {
  const meters = createEventMeters();
  const runtime = createRuntimeMeters();
  const unsubscribe = options.events.subscribe(meters.count);
  return {
    scrape() {
      const metrics = [
        ...readMetrics(meters, options),
        ...readGatewayFigures(options.figures()),
        ...readStoreFigures(options.storeFigures?.()),
        ...runtime.read(),
      ];
      return { text: toMetricsText(metrics), contentType: metricsType };
    },
    [Symbol.dispose]() {
      unsubscribe();
      runtime[Symbol.dispose]();
    },
  };
}

function readMetrics({ counters, histograms }: EventMeters, { instances, version }: MetricsOptions): readonly Metric[] {
  return [
    ...counters.map(({ name, help, counts }) => counter(name, help, counts.values())),
    ...histograms.map(({ name, help, durations }): Metric => ({
      name,
      help,
      type: "histogram",
      values: durations.values(name),
    })),
    gauge("toolyard_instances", "Instances by status.", countStatuses(instances())),
    gauge("toolyard_info", "Version of the gateway.", [{ labels: { version }, value: 1 }]),
  ];
}

function countStatuses(instances: Iterable<{ readonly status: string }>): MetricValue[] {
  const byStatus = new Map<string, number>();
  for (const { status } of instances) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return [...byStatus].map(([status, value]) => ({ labels: { status }, value }));
}
