import {
  constants,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
  type IntervalHistogram,
  type PerformanceEntry,
} from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { createDurations, counter, gauge, type Metric } from "./metric-values.ts";

/** Memory, CPU time and delays of this process. What takes time to measure is measured from the first reading on. */
export interface RuntimeMeters extends Disposable {
  read(): readonly Metric[];
}

/** How often the lag of the loop is looked at: ten times a second take 0.08 % of a core, a hundred times 0.5 %. */
const resolutionMs = 100;
const quantiles = [0.5, 0.99, 1] as const;
/** In seconds. A young generation takes a millisecond, a whole heap some tens. */
const pauseBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5];

const pauseKinds: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak_callbacks"],
]);

/** A gateway that is never scraped measures nothing. */
export function createRuntimeMeters(): RuntimeMeters {
  const pauses = createDurations(["kind"], pauseBuckets);
  let lag: IntervalHistogram | undefined;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind } = (entry as PerformanceEntry & { readonly detail: { readonly kind: number } }).detail;
      pauses.add([pauseKinds.get(kind) ?? "other"], entry.duration / 1_000);
    }
  });

  function start(): IntervalHistogram {
    const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
    histogram.enable();
    observer.observe({ entryTypes: ["gc"] });
    return histogram;
  }

  return {
    read() {
      lag ??= start();
      const lags = readLag(lag);
      return [
        ...lags,
        {
          name: "toolyard_gc_pause_seconds",
          help: "Time that the process stood still for garbage collection, since the first scrape.",
          type: "histogram",
          values: pauses.values("toolyard_gc_pause_seconds"),
        },
        ...readProcess(),
      ];
    },
    [Symbol.dispose]() {
      lag?.disable();
      observer.disconnect();
    },
  };
}

/**
 * Between this scrape and the one before. The histogram has the time between two looks, which is the interval where
 * there is no lag.
 */
function readLag(histogram: IntervalHistogram): readonly Metric[] {
  const isEmpty = histogram.count === 0;
  const values = quantiles.map((quantile) => {
    const ns = quantile === 1 ? histogram.max : histogram.percentile(quantile * 100);
    return { labels: { quantile }, value: isEmpty ? 0 : Math.max(0, ns / 1e9 - resolutionMs / 1_000) };
  });
  // A reset also forgets the last look, so that the lag of the next one is not seen.
  if (!isEmpty) histogram.reset();
  return [
    gauge("toolyard_event_loop_lag_seconds", "Lag of the event loop since the scrape before; 1 is the most.", values),
    counter(
      "toolyard_event_loop_active_seconds_total",
      "Time in which the event loop was busy.",
      performance.eventLoopUtilization().active / 1_000,
    ),
  ];
}

function readProcess(): readonly Metric[] {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge("nodejs_heap_size_used_bytes", "Memory in use in V8's heap.", heapUsed),
    gauge("nodejs_heap_size_total_bytes", "Size of V8's heap.", heapTotal),
    gauge("toolyard_heap_limit_bytes", "Size that V8's heap may have.", getHeapStatistics().heap_size_limit),
    gauge("nodejs_external_memory_bytes", "Memory of buffers outside of V8's heap.", external),
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", rss),
    counter("process_cpu_seconds_total", "User and system CPU time spent, in seconds.", (user + system) / 1e6),
    gauge("process_uptime_seconds", "Time since the gateway was started.", process.uptime()),
  ];
}
