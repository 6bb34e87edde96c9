import { expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import type { Metric } from "./metric-values.ts";
import { createRuntimeMeters } from "./runtime-meters.ts";

function valueOf(metrics: readonly Metric[], name: string, labels: Readonly<Record<string, unknown>> = {}): number {
  const values = metrics.find((metric) => metric.name === name)?.values ?? [];
  const found = values.find((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value));
  return found?.value ?? Number.NaN;
}

function blockLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("the loop's lag is that since the reading before, without the interval at which it is looked at", async () => {
  using meters = createRuntimeMeters();
  const lagOf = (quantile: number): number => valueOf(meters.read(), "toolyard_event_loop_lag_seconds", { quantile });
  expect(lagOf(1)).toBe(0);
  // Longer than the interval at which it is looked at, so that a look is late whenever this begins.
  const most = await until(() => {
    blockLoop(300);
    const lag = lagOf(1);
    return lag > 0.04 ? lag : undefined;
  });
  expect(most).toBeLessThan(30);
  expect(lagOf(1)).toBe(0);
});

test("busy time of the loop, CPU time and the heap are read without anything being measured before", () => {
  using meters = createRuntimeMeters();
  const first = meters.read();
  blockLoop(50);
  const second = meters.read();
  for (const name of ["toolyard_event_loop_active_seconds_total", "process_cpu_seconds_total"])
    expect(valueOf(second, name)).toBeGreaterThan(valueOf(first, name));
  const used = valueOf(second, "nodejs_heap_size_used_bytes");
  expect(used).toBeGreaterThan(1e6);
  expect(used).toBeLessThan(valueOf(second, "toolyard_heap_limit_bytes"));
});

test("pauses for garbage collection are counted from the first reading on", async () => {
  using meters = createRuntimeMeters();
  meters.read();
  const countOf = (): number => {
    const pauses = meters.read().find((metric) => metric.name === "toolyard_gc_pause_seconds")?.values ?? [];
    return pauses.find((one) => one.metricName?.endsWith("_count") && one.labels["kind"] === "minor")?.value ?? 0;
  };
  await until(() => {
    Array.from({ length: 100_000 }, (_, index) => ({ index }));
    return countOf() > 0;
  });
});
