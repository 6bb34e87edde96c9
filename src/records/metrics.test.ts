import { expect, test } from "vitest";
import type { InstanceId, PrincipalId, ServerSlug } from "../kernel/ids.ts";
import { createEventBus, type EventBus } from "../kernel/event-bus.ts";
import { createMetrics } from "./metrics.ts";

function failing(error: unknown): never {
  throw error;
}

function emitCall(events: EventBus, server: string, durationMs: number, outcome = "ok"): void {
  events.emit({
    type: "mcp.request.logs",
    atMs: 0,
    instance: server as InstanceId,
    server: server as ServerSlug,
    principal: "alice" as PrincipalId,
    method: "tools/call",
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

test("no label holds a tool or a person, and the number of series is bounded", () => {
  const events = createEventBus(failing);
  using metrics = createMetrics({ events, instances: () => [], version: "1" });
  for (let index = 0; index < 2_000; index += 1) emitCall(events, `server-${index}`, 1);
  const { text } = metrics.scrape();
  expect(text).not.toMatch(/secret_tool|alice/);
  const series = text.split("\n").filter((line) => line.startsWith("toolyard_calls_total{"));
  expect(series).toHaveLength(501);
  expect(series.at(-1)).toBe('toolyard_calls_total{server="other",method="other",outcome="other"} 1500');
});

test("one that was disposed counts nothing more", () => {
  const events = createEventBus(failing);
  const metrics = createMetrics({ events, instances: () => [], version: "1" });
  metrics[Symbol.dispose]();
  emitCall(events, "a", 1);
  expect(metrics.scrape().text).not.toContain('server="a"');
});
