import type { Registry } from "prom-client";
import type { LoadLate } from "../kernel/late-module.ts";
import type { EventBus } from "../kernel/event-bus.ts";
import { createEventMeters, type EventMeters } from "./event-meters.ts";
import type { MetricValue } from "./metric-values.ts";

/** What Prometheus is given. Counted from the start; prom-client is loaded at the first scrape, for those who scrape. */
export interface Metrics extends Disposable {
  /** The text of `/metrics`, and its content type. */
  scrape(): Promise<{ readonly text: string; readonly contentType: string }>;
}

export interface MetricsOptions {
  readonly events: EventBus;
  /** All instances as they stand now. */
  readonly instances: () => Iterable<{ readonly status: string }>;
  readonly version: string;
  /** How prom-client is loaded; at once without it. */
  readonly loadLate?: LoadLate;
}

/** A sink of events. */
export function createMetrics(options: MetricsOptions): Metrics {
  const meters = createEventMeters();
  let registry: Promise<Registry> | undefined;
  const unsubscribe = options.events.subscribe(meters.count);
  return {
    async scrape() {
      registry ??= openRegistry(meters, options).catch((error: unknown) => {
        registry = undefined;
        throw error;
      });
      const opened = await registry;
      return { text: await opened.metrics(), contentType: opened.contentType };
    },
    [Symbol.dispose]: unsubscribe,
  };
}

async function openRegistry(meters: EventMeters, options: MetricsOptions): Promise<Registry> {
  const load = async () => await import("prom-client");
  const prom = await (options.loadLate?.("metrics", load) ?? load());
  const opened = new prom.Registry();
  const add = (
    name: string,
    help: string,
    type: "counter" | "gauge" | "histogram",
    read: () => readonly MetricValue[],
  ): void => {
    // prom-client asks a metric for its values; these are counted by us, so that nothing of it runs on the way of a call.
    const get = () =>
      Promise.resolve({
        name,
        help,
        type,
        aggregator: "sum",
        values: read().map((value) => ({ metricName: name, ...value })),
      });
    opened.registerMetric({ name, help, aggregator: "sum", get } as never);
  };
  for (const { name, help, counts } of meters.counters) add(name, help, "counter", counts.values);
  for (const { name, help, durations } of meters.histograms) add(name, help, "histogram", () => durations.values(name));
  add("toolyard_instances", "Instances by status.", "gauge", () => countStatuses(options.instances()));
  add("toolyard_info", "Version of the gateway.", "gauge", () => [{ labels: { version: options.version }, value: 1 }]);
  add("process_resident_memory_bytes", "Resident memory size in bytes.", "gauge", () =>
    plain(process.memoryUsage.rss()),
  );
  add("process_cpu_seconds_total", "User and system CPU time spent, in seconds.", "counter", () => plain(cpuSeconds()));
  add("process_uptime_seconds", "Time since the gateway was started.", "gauge", () => plain(process.uptime()));
  return opened;
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
