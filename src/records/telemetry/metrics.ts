import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { StoreFigures } from "../../store/record-store.ts";
import { createRuntimeMeters } from "./runtime-meters.ts";
import { createEventMeters, type EventMeters } from "./event-meters.ts";
import { type MetricValue, counter, gauge, metricsType, toMetricsText, type Metric } from "./metric-values.ts";

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

/** What waits in a gateway and what it keeps, at one moment. */
interface GatewayFigures {
  /** Requests, searches included, that were not answered yet. */
  readonly requestsInFlight: number;
  /** Calls that wait for a server to be up. */
  readonly waitingCalls: number;
  /** Servers that wait for their turn to be started. */
  readonly waitingStarts: number;
  /** Sessions of legacy clients. */
  readonly sessions: number;
  /** Streams that clients keep open for notifications. */
  readonly streams: number;
  /** What was cut off results, for as long as it can be read. */
  readonly kept: { readonly results: number; readonly memoryBytes: number; readonly diskBytes: number };
}

/** As metrics. */
function readGatewayFigures(figures: GatewayFigures): readonly Metric[] {
  const { kept } = figures;
  return [
    gauge("toolyard_requests_in_flight", "Requests that were not answered yet.", figures.requestsInFlight),
    gauge("toolyard_waiting_calls", "Calls that wait for a server to be up.", figures.waitingCalls),
    gauge("toolyard_waiting_starts", "Servers that wait for their turn to be started.", figures.waitingStarts),
    gauge("toolyard_sessions", "Sessions of clients.", figures.sessions),
    gauge("toolyard_open_streams", "Streams that clients keep open.", figures.streams),
    gauge("toolyard_kept_results", "Results whose rest is kept to be read.", kept.results),
    gauge("toolyard_kept_results_memory_bytes", "Memory taken by the rests of results.", kept.memoryBytes),
    gauge("toolyard_kept_results_disk_bytes", "Disk space taken by the rests of results.", kept.diskBytes),
  ];
}

/** As metrics; none without a store. */
function readStoreFigures(figures: StoreFigures | undefined): readonly Metric[] {
  if (figures === undefined) return [];
  const dropped = Object.entries(figures.droppedRows).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    gauge("toolyard_store_queued_rows", "Records that wait to be handed to the store.", figures.queuedRows),
    gauge("toolyard_store_sent_rows", "Records that the store has and has not written yet.", figures.sentRows),
    counter("toolyard_store_written_rows_total", "Records written.", figures.writtenRows),
    counter("toolyard_store_dropped_rows_total", "Records lost, by why.", dropped),
    counter("toolyard_store_commits_total", "Batches of records written.", figures.commits),
    counter("toolyard_store_commit_seconds_total", "Time spent in writing them.", figures.commitMsSum / 1_000),
    gauge("toolyard_store_commit_max_seconds", "The longest that a batch took.", figures.commitMsMax / 1_000),
    counter("toolyard_store_worker_starts_total", "Starts of the store's thread.", figures.workerStarts),
  ];
}
