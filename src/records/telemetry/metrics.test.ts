import { expect, test } from "vitest";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import { createEventBus, type EventBus } from "../../kernel/events/event-bus.ts";
import { createCounts } from "./metric-values.ts";
import { createMetrics } from "./metrics.ts";

function failing(error: unknown): never {
  throw error;
}

const figures = () => ({
  requestsInFlight: 3,
  waitingCalls: 2,
  waitingStarts: 1,
  sessions: 4,
  streams: 5,
  kept: { results: 6, memoryBytes: 7, diskBytes: 8 },
});

function emitCall(events: EventBus, server: string, durationMs: number, outcome = "ok", method = "tools/call"): void {
  events.emit({
    type: "mcp.request.logs",
    atMs: 0,
    instance: server as InstanceId,
    server: server as ServerSlug,
    principal: "alice" as PrincipalId,
    method,
    team: null,
    via: "http",
    client: undefined,
    path: "server:secret_tool",
    waitMs: 0,
    argumentBytes: 0,
    resultBytes: 0,
    cutTokens: 0,
    serverCode: undefined,
    name: "secret_tool",
    durationMs,
    outcome,
  });
}

test("calls are counted by server and outcome, their time in buckets that add up", () => {
  const events = createEventBus(failing);
  using metrics = createMetrics({
    events,
    instances: () => [{ status: "online" }, { status: "online" }, { status: "error" }],
    version: "1.2.3",
    figures,
  });
  emitCall(events, "a", 3);
  emitCall(events, "a", 30);
  emitCall(events, "a", 400_000, "UPSTREAM_TIMEOUT");
  const { text, contentType } = metrics.scrape();
  expect(contentType).toContain("text/plain");
  expect(text).toContain('toolyard_calls_total{server="a",method="tools/call",outcome="ok"} 2');
  expect(text).toContain('toolyard_calls_total{server="a",method="tools/call",outcome="UPSTREAM_TIMEOUT"} 1');
  expect(text).toContain('toolyard_call_duration_seconds_bucket{server="a",le="0.0025"} 0');
  expect(text).toContain('toolyard_call_duration_seconds_bucket{server="a",le="0.005"} 1');
  expect(text).toContain('toolyard_call_duration_seconds_bucket{server="a",le="300"} 2');
  expect(text).toContain('toolyard_call_duration_seconds_bucket{server="a",le="+Inf"} 3');
  expect(text).toContain('toolyard_call_duration_seconds_count{server="a"} 3');
  expect(text).toContain('toolyard_instances{status="online"} 2');
  expect(text).toContain('toolyard_info{version="1.2.3"} 1');
  expect(metrics.scrape().text).toContain('toolyard_calls_total{server="a",method="tools/call",outcome="ok"} 2');
});

function linesOf(text: string, metric: string): string[] {
  return text.split("\n").filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
}

test("no label holds a tool or a person, and of 10,000 servers the first hundred have series of their own", () => {
  const events = createEventBus(failing);
  using metrics = createMetrics({ events, instances: () => [], version: "1", figures });
  for (let index = 0; index < 10_000; index += 1) {
    emitCall(events, `server-${index}`, 1);
    if (index % 2 === 0) emitCall(events, `server-${index}`, 1, "UPSTREAM_TIMEOUT");
  }
  const { text } = metrics.scrape();
  expect(text).not.toMatch(/secret_tool|alice/);
  expect(linesOf(text, "toolyard_calls_total")).toHaveLength(100 + 50 + 2);
  expect(text).toContain('toolyard_calls_total{server="server-99",method="tools/call",outcome="ok"} 1');
  expect(text).toContain('toolyard_calls_total{server="other",method="tools/call",outcome="ok"} 9900');
  expect(text).toContain('toolyard_calls_total{server="other",method="tools/call",outcome="UPSTREAM_TIMEOUT"} 4950');
  expect(text).toContain('toolyard_call_duration_seconds_count{server="other"} 14850');
  expect(text).not.toContain("server-100");
  // What had a place keeps it, so that no counter ever falls.
  emitCall(events, "server-0", 1);
  expect(metrics.scrape().text).toContain('{server="server-0",method="tools/call",outcome="ok"} 2');
});

test("methods that clients made up, and names without end, are counted as others", () => {
  const events = createEventBus(failing);
  using metrics = createMetrics({ events, instances: () => [], version: "1", figures });
  for (let index = 0; index < 10_000; index += 1) emitCall(events, "a", 1, "ok", `made/up-${index}`);
  emitCall(events, "x".repeat(1_000_000), 1);
  const { text } = metrics.scrape();
  expect(linesOf(text, "toolyard_calls_total")).toEqual([
    'toolyard_calls_total{server="a",method="other",outcome="ok"} 10000',
    'toolyard_calls_total{server="other",method="tools/call",outcome="ok"} 1',
  ]);
  expect(text.length).toBeLessThan(50_000);
});

test("when every label has many values, their combinations are still bounded", () => {
  const counts = createCounts(["one", "other"]);
  for (let one = 0; one < 100; one += 1)
    for (let other = 0; other < 100; other += 1) counts.add([`${one}`, `${other}`]);
  const values = counts.values();
  expect(values).toHaveLength(2_001);
  expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(10_000);
  expect(values.at(-1)).toEqual({ labels: { one: "other", other: "other" }, value: 8_000 });
});

test("what waits and what is kept are gauges of the moment", () => {
  using metrics = createMetrics({ events: createEventBus(failing), instances: () => [], version: "1", figures });
  const { text } = metrics.scrape();
  for (const line of [
    "toolyard_requests_in_flight 3",
    "toolyard_waiting_calls 2",
    "toolyard_waiting_starts 1",
    "toolyard_sessions 4",
    "toolyard_open_streams 5",
    "toolyard_kept_results 6",
    "toolyard_kept_results_memory_bytes 7",
    "toolyard_kept_results_disk_bytes 8",
  ])
    expect(text).toContain(`\n${line}\n`);
  expect(text).not.toContain("toolyard_store_");
});

test("of a store, its queue, what it dropped and why, and the time of its commits in seconds", () => {
  const store = {
    queuedRows: 1,
    sentRows: 2,
    writtenRows: 3,
    droppedRows: { queue: 4, database: 0, worker: 0, row: 0, closed: 0 },
    commits: 5,
    commitMsSum: 6_500,
    commitMsMax: 250,
    workerStarts: 1,
  };
  let figuresNow: typeof store | undefined;
  const options = { events: createEventBus(failing), instances: () => [], version: "1", figures };
  using metrics = createMetrics({ ...options, storeFigures: () => figuresNow });
  expect(metrics.scrape().text).not.toContain("toolyard_store_");
  figuresNow = store;
  const { text } = metrics.scrape();
  for (const line of [
    "toolyard_store_queued_rows 1",
    "toolyard_store_sent_rows 2",
    "toolyard_store_written_rows_total 3",
    'toolyard_store_dropped_rows_total{reason="queue"} 4',
    'toolyard_store_dropped_rows_total{reason="closed"} 0',
    "toolyard_store_commits_total 5",
    "toolyard_store_commit_seconds_total 6.5",
    "toolyard_store_commit_max_seconds 0.25",
    "toolyard_store_worker_starts_total 1",
  ])
    expect(text).toContain(`\n${line}\n`);
});

test("one that was disposed counts nothing more", () => {
  const events = createEventBus(failing);
  const metrics = createMetrics({ events, instances: () => [], version: "1", figures });
  metrics[Symbol.dispose]();
  emitCall(events, "a", 1);
  expect(metrics.scrape().text).not.toContain('server="a"');
});
