import type { EventBus } from "../kernel/event-bus.ts";
import { createEventMeters, type EventMeters } from "./event-meters.ts";
import type { MetricValue } from "./metric-values.ts";
import { metricsType, toMetricsText, type Metric } from "./metrics-text.ts";

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
}

/** Counts the events of `events` until it is disposed. */
export function createMetrics(options: MetricsOptions): Metrics {
  const meters = createEventMeters();
  const unsubscribe = options.events.subscribe(meters.count);
  return {
    scrape: () => ({ text: toMetricsText(readMetrics(meters, options)), contentType: metricsType }),
    [Symbol.dispose]: unsubscribe,
  };
}

function readMetrics({ counters, histograms }: EventMeters, { instances, version }: MetricsOptions): readonly Metric[] {
  const gauge = (name: string, help: string, values: readonly MetricValue[]): Metric => ({
    name,
    help,
    type: "gauge",
    values,
  });
  return [
    ...counters.map(({ name, help, counts }): Metric => ({ name, help, type: "counter", values: counts.values() })),
    ...histograms.map(({ name, help, durations }): Metric => ({
      name,
      help,
      type: "histogram",
      values: durations.values(name),
    })),
    gauge("toolyard_instances", "Instances by status.", countStatuses(instances())),
    gauge("toolyard_info", "Version of the gateway.", [{ labels: { version }, value: 1 }]),
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", plain(process.memoryUsage.rss())),
    {
      name: "process_cpu_seconds_total",
      help: "User and system CPU time spent, in seconds.",
      type: "counter",
      values: plain(cpuSeconds()),
    },
    gauge("process_uptime_seconds", "Time since the gateway was started.", plain(process.uptime())),
  ];
}

function countStatuses(instances: Iterable<{ readonly status: string }>): MetricValue[] {
  const byStatus = new Map<string, number>();
  for (const { status } of instances) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  return [...byStatus].map(([status, value]) => ({ labels: { status }, value }));
}

function plain(value: number): MetricValue[] {
  return [{ labels: {}, value }];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
