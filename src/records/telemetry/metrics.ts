import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { StoreFigures } from "../../store/record-store.ts";
import { createRuntimeMeters } from "./runtime-meters.ts";
import {
  counter,
  type Counts,
  createCounts,
  createDurations,
  createSums,
  type Durations,
  gauge,
  type Metric,
  metricsType,
  type MetricValue,
  toMetricsText,
} from "./metric-values.ts";
import type { Replicas } from "../../servers/upstream/connection.ts";
import type { GatewayEvent } from "../../kernel/events/event.ts";

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
  readonly instances: () => Iterable<MeasuredInstance>;
  readonly version: string;
  /** The present sizes of queues and caches. */
  readonly figures: () => GatewayFigures;
  /** Of the store of records, while there is one. */
  readonly storeFigures?: (() => StoreFigures | undefined) | undefined;
  /** The nodes of the cluster, where there is one. */
  readonly nodes?: (() => readonly NodeFigures[] | undefined) | undefined;
}

/** A node of the cluster, as this one sees it. */
export interface NodeFigures {
  readonly isThis: boolean;
  readonly state: string;
  readonly leaseLeftMs: number;
  readonly instances: number;
}

interface MeasuredInstance {
  readonly status: string;
  readonly server?: { readonly slug: string };
  /** Its processes or addresses, where it has several or a breaker. */
  readonly connection?: { readonly replicas?: Pick<Replicas, "all"> | undefined } | undefined;
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
        ...readNodes(options.nodes?.()),
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
    ...readReplicas(instances()),
    gauge("toolyard_info", "Version of the gateway.", [{ labels: { version }, value: 1 }]),
  ];
}

/** Of servers with several processes or addresses, or a breaker. */
function readReplicas(instances: Iterable<MeasuredInstance>): readonly Metric[] {
  const replicas = createSums(["server", "state"]);
  const inFlight = createSums(["server"]);
  for (const { server, connection } of instances)
    for (const one of connection?.replicas?.all() ?? []) {
      const state = !one.isUp ? "down" : one.breaker === "closed" ? "up" : `breaker_${one.breaker.replace("-", "_")}`;
      replicas.add([server?.slug ?? "", state], 1);
      inFlight.add([server?.slug ?? ""], one.inFlight);
    }
  return [
    gauge("toolyard_server_replicas", "Processes or addresses of servers that have several.", replicas.values()),
    gauge("toolyard_server_replica_calls", "Calls that these have not answered yet.", inFlight.values()),
  ];
}

function countStatuses(instances: Iterable<MeasuredInstance>): MetricValue[] {
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

/** As metrics; none in a gateway that is alone. The lease and the instances are those of this node. */
function readNodes(nodes: readonly NodeFigures[] | undefined): readonly Metric[] {
  if (nodes === undefined) return [];
  const states = countStatuses(nodes.map(({ state }) => ({ status: state })));
  const own = nodes.find(({ isThis }) => isThis);
  return [
    gauge(
      "toolyard_cluster_nodes",
      "Nodes by state.",
      states.map(({ labels, value }) => ({ labels: { state: labels["status"] ?? "" }, value })),
    ),
    gauge("toolyard_cluster_lease_left_seconds", "The rest of this node's lease.", (own?.leaseLeftMs ?? 0) / 1_000),
    gauge("toolyard_cluster_instances", "Instances that this node runs.", own?.instances ?? 0),
  ];
}

/** Counters and durations of events. No label contains a tool or a person, so that their number stays limited. */
interface EventMeters {
  count(event: GatewayEvent): void;
  readonly counters: readonly { readonly name: string; readonly help: string; readonly counts: Counts }[];
  readonly histograms: readonly { readonly name: string; readonly help: string; readonly durations: Durations }[];
}

/** In seconds. Half a millisecond is a call to a local server, a minute one to a language model. */
const callBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const loadBuckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** What can be asked of a server. At transparent endpoints, clients may send anything, and have it passed on. */
const methods: ReadonlySet<string> = new Set([
  "tools/call",
  "tools/list",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "prompts/get",
  "tasks/get",
  "tasks/list",
  "tasks/update",
  "tasks/result",
  "tasks/cancel",
  "skills/list",
  "skills/get",
  "resources/directory/read",
  "prompts/list",
  "completion/complete",
]);

/** Meters that start at zero. */
function createEventMeters(): EventMeters {
  const calls = createCounts(["server", "method", "outcome"]);
  const callTime = createDurations(["server"], callBuckets);
  const crashes = createCounts(["server"]);
  const starts = createCounts(["server", "kind"]);
  const breakers = createCounts(["server", "state"]);
  const searches = createCounts(["engine"]);
  const searchTime = createDurations(["engine"], callBuckets);
  const loads = createCounts(["why"]);
  const loadTime = createDurations([], loadBuckets);
  const hits = createCounts([]);
  const evictions = createCounts(["why"]);
  const loadErrors = createCounts(["code"]);
  const bareNames = createCounts(["migrated"]);
  const oddities = createCounts(["kind"]);
  const forwarded = createCounts(["outcome"]);
  const takeovers = createCounts(["why"]);
  const gap = createDurations([], loadBuckets);

  function count(event: GatewayEvent): void {
    switch (event.type) {
      case "mcp.request.logs":
        if (event.node !== undefined) forwarded.add([event.outcome]);
        calls.add([event.server, methods.has(event.method) ? event.method : "other", event.outcome]);
        return callTime.add([event.server], event.durationMs / 1_000);
      case "mcp.server.crashed":
        return crashes.add([event.server]);
      case "mcp.server.started":
        return starts.add([event.server, "start"]);
      case "mcp.server.respawned":
        return starts.add([event.server, "respawn"]);
      case "mcp.server.breaker":
        return breakers.add([event.server, event.state]);
      case "search.done":
        searches.add([event.engine]);
        return searchTime.add([event.engine], event.durationMs / 1_000);
      case "namespace.loaded":
        loads.add([event.why]);
        return loadTime.add([], event.durationMs / 1_000);
      case "namespace.used":
        return hits.add([]);
      case "namespace.evicted":
        return evictions.add([event.why]);
      case "namespace.load_failed":
        return loadErrors.add([event.code]);
      case "tool.bare_name":
        return bareNames.add([String(event.migrated)]);
      case "upstream.oddity":
        return oddities.add([event.kind]);
      case "instance.moved":
        if (event.gapMs !== undefined) gap.add([], event.gapMs / 1_000);
        return takeovers.add([event.why]);
      default:
        return undefined;
    }
  }

  return {
    count,
    counters: [
      {
        name: "toolyard_calls_total",
        help: "Requests to servers: outcome is ok, tool_error, error, or the gateway's failure code.",
        counts: calls,
      },
      { name: "toolyard_server_crashes_total", help: "Unexpected exits of servers.", counts: crashes },
      {
        name: "toolyard_server_starts_total",
        help: "Servers started, and started again after being idle.",
        counts: starts,
      },
      {
        name: "toolyard_breaker_changes_total",
        help: "Breakers of servers that opened, were tried again, and closed: state is the new one.",
        counts: breakers,
      },
      { name: "toolyard_searches_total", help: "Searches for tools.", counts: searches },
      { name: "toolyard_namespace_loads_total", help: "Namespaces loaded.", counts: loads },
      { name: "toolyard_namespace_hits_total", help: "Uses of namespaces that were loaded.", counts: hits },
      { name: "toolyard_namespace_evictions_total", help: "Namespaces unloaded.", counts: evictions },
      {
        name: "toolyard_namespace_load_errors_total",
        help: "Namespaces that could not be loaded, by failure code.",
        counts: loadErrors,
      },
      { name: "toolyard_bare_names_total", help: "Calls by a deprecated bare name.", counts: bareNames },
      { name: "toolyard_upstream_oddities_total", help: "Deviations of servers from the protocol.", counts: oddities },
      {
        name: "toolyard_cluster_forwarded_total",
        help: "Requests to servers that another node runs, by outcome.",
        counts: forwarded,
      },
      {
        name: "toolyard_cluster_takeovers_total",
        help: "Instances that this node took over: handed over, or of a node that is dead or whose lease had lapsed.",
        counts: takeovers,
      },
    ],
    histograms: [
      { name: "toolyard_call_duration_seconds", help: "Time that a request to a server took.", durations: callTime },
      { name: "toolyard_search_duration_seconds", help: "Time that a search took.", durations: searchTime },
      {
        name: "toolyard_cluster_gap_seconds",
        help: "Time from the call that found an instance without its node until this node had opened the instance.",
        durations: gap,
      },
      {
        name: "toolyard_namespace_load_duration_seconds",
        help: "Time that loading a namespace took.",
        durations: loadTime,
      },
    ],
  };
}
