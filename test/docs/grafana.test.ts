import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEventBus } from "../../src/kernel/events/event-bus.ts";
import { createMetrics } from "../../src/records/telemetry/metrics.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { findPrometheus, startPrometheus, type Prometheus } from "../harness/prometheus.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(new URL("../../docs/grafana.json", import.meta.url), "utf8")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== "row");
const expressions = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ refId, expr }) => ({ title, refId, expr })),
);

/** Metrics in an expression, without what Prometheus adds to the names of histograms. */
function metricsOf(text: string): string[] {
  return [...text.matchAll(/\b(?:toolyard|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name);
}

const figures = {
  requestsInFlight: 0,
  waitingCalls: 0,
  waitingStarts: 0,
  sessions: 0,
  streams: 0,
  kept: { results: 0, memoryBytes: 0, diskBytes: 0 },
};
const store = {
  queuedRows: 0,
  sentRows: 0,
  writtenRows: 0,
  droppedRows: { queue: 0, database: 0, worker: 0, row: 0, closed: 0 },
  commits: 0,
  commitMsSum: 0,
  commitMsMax: 0,
  workerStarts: 0,
};

test("every query of the dashboard names metrics that the gateway writes, those of a store included", () => {
  const events = createEventBus((error) => expect.unreachable(String(error)));
  using metrics = createMetrics({
    events,
    instances: () => [],
    version: "1",
    figures: () => figures,
    storeFigures: () => store,
  });
  const written = new Set(
    [...metrics.scrape().text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  expect(expressions.flatMap(({ expr }) => metricsOf(expr)).filter((name) => !written.has(name))).toEqual([]);
});

test("every panel has a number and a place of its own, says what it shows, and keeps to the chosen gateway", () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { title, description, targets } of panels) {
    expect(description, title).toMatch(/\.$/);
    for (const { expr } of targets ?? [])
      expect(expr.split("instance=~").length - 1, expr).toBe(metricsOf(expr).length);
  }
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource", "instance"]);
});

const program = findPrometheus();

describe.skipIf(program === undefined && process.env["CI"] === undefined)("a Prometheus that scrapes a gateway", () => {
  let gateway: RunningGateway;
  let prometheus: Prometheus;

  beforeAll(async () => {
    if (program === undefined) throw new Error("there is no prometheus: run node scripts/get-prometheus.mjs");
    gateway = await startGateway({ config: { mcpServers: { one: badServer(), two: badServer() } } });
    prometheus = await startPrometheus(program, new URL(gateway.url).host);
  });
  afterAll(async () => {
    await prometheus[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
  });

  async function callTool(name: string, args: object, path = "/mcp"): Promise<string> {
    return (await rpc(gateway.url + path, "tools/call", { name, arguments: args })).text;
  }

  /** A little of everything that a panel shows. */
  async function use(): Promise<void> {
    const execute = async (path: string): Promise<string> => await callTool("execute_mcp_tool", { tool_path: path });
    await Promise.all([execute("one:echo"), execute("two:echo"), execute("one:fail"), execute("nobody:at_home")]);
    await callTool("discover_mcp_tools", { query: "echo" });
    await callTool("one__list_tools", {}, "/mcp/namespaces");
    await callTool("one__echo", {}, "/mcp/namespaces");
    await execute("two:twice");
    await execute("two:exit");
  }

  test("its scrapes work", async () => {
    await until(async () => (await prometheus.target()).health === "up");
    expect((await prometheus.target()).lastError).toBe("");
    const [info] = await prometheus.query("toolyard_info");
    expect(info).toMatchObject({ value: 1, metric: { version: expect.stringMatching(/^\d/) } });
  });

  test("can evaluate every query of the dashboard, and finds data for each after real calls", async () => {
    const waiting = new Set(expressions);
    await until(async () => {
      await use();
      for (const one of waiting) {
        const samples = await prometheus.query(withoutVariables(one.expr));
        if (samples.some(({ value }) => Number.isFinite(value))) waiting.delete(one);
      }
      return waiting.size === 0;
    }, 100_000).catch((error: unknown) => {
      throw new Error(`no data for ${[...waiting].map(({ title, refId }) => `${title} ${refId}`).join("; ")}`, {
        cause: error,
      });
    });
  });

  test("what was called is what is counted", async () => {
    const series = 'toolyard_calls_total{server="one",method="tools/call",outcome="ok"}';
    for (let at = 0; at < 25; at += 1) await callTool("execute_mcp_tool", { tool_path: "one:echo" });
    const { text } = await send(`${gateway.url}/metrics`, { method: "GET" });
    const written = Number(
      text
        .split("\n")
        .find((line) => line.startsWith(series))
        ?.slice(series.length),
    );
    expect(written).toBeGreaterThanOrEqual(25);
    await until(async () => (await prometheus.query(series))[0]?.value === written);
  });
});

/** As Grafana fills them in. */
function withoutVariables(expression: string): string {
  return expression.replaceAll("$__rate_interval", "10s").replaceAll("$instance", ".*");
}
