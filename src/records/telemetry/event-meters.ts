import type { GatewayEvent } from "../../kernel/events/event.ts";
import { createCounts, createDurations, type Counts, type Durations } from "./metric-values.ts";

/** Counters and durations of events. No label contains a tool or a person, so that their number stays limited. */
export interface EventMeters {
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
export function createEventMeters(): EventMeters {
  const calls = createCounts(["server", "method", "outcome"]);
  const callTime = createDurations(["server"], callBuckets);
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

  function count(event: GatewayEvent): void {
    switch (event.type) {
      case "mcp.request.logs":
        calls.add([event.server, methods.has(event.method) ? event.method : "other", event.outcome]);
        return callTime.add([event.server], event.durationMs / 1_000);
      case "mcp.server.crashed":
        return crashes.add([event.server]);
      case "mcp.server.started":
        return starts.add([event.server, "start"]);
      case "mcp.server.respawned":
        return starts.add([event.server, "respawn"]);
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
    ],
    histograms: [
      { name: "toolyard_call_duration_seconds", help: "Time that a request to a server took.", durations: callTime },
      { name: "toolyard_search_duration_seconds", help: "Time that a search took.", durations: searchTime },
      {
        name: "toolyard_namespace_load_duration_seconds",
        help: "Time that loading a namespace took.",
        durations: loadTime,
      },
    ],
  };
}
