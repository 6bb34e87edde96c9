import type { Registry } from "prom-client";
import type { EventBus } from "./bus.ts";
import type { GatewayEvent } from "./event.ts";
import { createCounts, createDurations, type MetricValue } from "./metric-values.ts";

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
}

/** Seconds. Half a millisecond is a call to a local server, a minute one to a language model. */
const callBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const loadBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** A sink of events. Labels are bounded: servers and methods beyond a number are counted as `other`; no label holds a tool or a person. */
export function createMetrics(options: MetricsOptions): Metrics {
  const calls = createCounts(["server", "method", "outcome"]);
  const latency = createDurations(["server"], callBuckets);
  const crashes = createCounts(["server"]);
  const starts = createCounts(["server", "kind"]);
  const searches = createCounts(["engine"]);
  const searchTime = createDurations(["engine"], callBuckets);
  const loads = createCounts(["why"]);
  const loadTime = createDurations([], loadBuckets);
  const hits = createCounts([]);
  const evictions = createCounts(["why"]);
  const loadErrors = createCounts(["code"]);
  const bareNames = createCounts(["migrated"]);
  const oddities = createCounts(["kind"]);
  let registry: Promise<Registry> | undefined;

  function count(event: GatewayEvent): void {
    switch (event.type) {
      case "mcp.request.logs":
        calls.add([event.server, event.method, event.outcome]);
        latency.add([event.server], event.durationMs / 1_000);
        return;
      case "mcp.server.crashed":
        crashes.add([event.server]);
        return;
      case "mcp.server.started":
        starts.add([event.server, "start"]);
        return;
      case "mcp.server.respawned":
        starts.add([event.server, "respawn"]);
        return;
      case "search.done":
        searches.add([event.engine]);
        searchTime.add([event.engine], event.durationMs / 1_000);
        return;
      case "namespace.loaded":
        loads.add([event.why]);
        loadTime.add([], event.durationMs / 1_000);
        return;
      case "namespace.used":
        hits.add([]);
        return;
      case "namespace.evicted":
        evictions.add([event.why]);
        return;
      case "namespace.load_failed":
        loadErrors.add([event.code]);
        return;
      case "tool.bare_name":
        bareNames.add([String(event.migrated)]);
        return;
      case "upstream.oddity":
        oddities.add([event.kind]);
        return;
      default:
    }
  }

  function statuses(): MetricValue[] {
    const byStatus = new Map<string, number>();
    for (const { status } of options.instances()) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    return [...byStatus].map(([status, value]) => ({ labels: { status }, value }));
  }

  async function openRegistry(): Promise<Registry> {
    const prom = await import("prom-client");
    const opened = new prom.Registry();
    const add = (
      name: string,
      help: string,
      type: "counter" | "gauge" | "histogram",
      values: () => readonly MetricValue[],
    ): void => {
      // prom-client asks a metric for its values; these are counted by us, so that nothing of it runs on the way of a call.
      const metric = {
        name,
        help,
        aggregator: "sum",
        get: async () =>
          await Promise.resolve({
            name,
            help,
            type,
            aggregator: "sum",
            values: values().map((value) => ({ ...value, metricName: value.metricName ?? name })),
          }),
      };
      opened.registerMetric(metric as never);
    };
    add(
      "toolyard_calls_total",
      "Requests answered, by server, method and outcome (ok, tool_error, error, or the gateway's failure code).",
      "counter",
      calls.values,
    );
    add(
      "toolyard_call_duration_seconds",
      "Time from the gateway's receipt of a request to its answer.",
      "histogram",
      () => latency.values("toolyard_call_duration_seconds"),
    );
    add("toolyard_server_crashes_total", "Exits of servers that nobody asked for.", "counter", crashes.values);
    add(
      "toolyard_server_starts_total",
      "Servers started, and started again after being idle.",
      "counter",
      starts.values,
    );
    add("toolyard_searches_total", "Searches for tools.", "counter", searches.values);
    add("toolyard_search_duration_seconds", "Time that a search took.", "histogram", () =>
      searchTime.values("toolyard_search_duration_seconds"),
    );
    add("toolyard_instances", "Instances by status.", "gauge", statuses);
    add("toolyard_namespace_loads_total", "Namespaces loaded.", "counter", loads.values);
    add("toolyard_namespace_load_duration_seconds", "Time that loading a namespace took.", "histogram", () =>
      loadTime.values("toolyard_namespace_load_duration_seconds"),
    );
    add("toolyard_namespace_hits_total", "Uses of namespaces that were loaded.", "counter", hits.values);
    add("toolyard_namespace_evictions_total", "Namespaces unloaded.", "counter", evictions.values);
    add(
      "toolyard_namespace_load_errors_total",
      "Namespaces that could not be loaded, by failure code.",
      "counter",
      loadErrors.values,
    );
    add("toolyard_bare_names_total", "Calls by a deprecated bare name.", "counter", bareNames.values);
    add("toolyard_upstream_oddities_total", "Deviations of servers from the protocol.", "counter", oddities.values);
    add("toolyard_info", "Version of the gateway.", "gauge", () => [
      { labels: { version: options.version }, value: 1 },
    ]);
    add("process_resident_memory_bytes", "Resident memory size in bytes.", "gauge", () => [
      { labels: {}, value: process.memoryUsage.rss() },
    ]);
    add("process_cpu_seconds_total", "User and system CPU time spent, in seconds.", "counter", () => [
      { labels: {}, value: cpuSeconds() },
    ]);
    add("process_uptime_seconds", "Time since the gateway was started.", "gauge", () => [
      { labels: {}, value: process.uptime() },
    ]);
    return opened;
  }

  const unsubscribe = options.events.subscribe(count);
  return {
    async scrape() {
      const opened = await (registry ??= openRegistry());
      return { text: await opened.metrics(), contentType: opened.contentType };
    },
    [Symbol.dispose]: unsubscribe,
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
