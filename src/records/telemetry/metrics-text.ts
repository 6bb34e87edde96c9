import type { MetricValue } from "./metric-values.ts";

/** A metric and its lines. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly MetricValue[];
}

/** The content type of what {@link toMetricsText} writes. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics in the text format of Prometheus, version 0.0.4 (prometheus.io, exposition formats). */
export function toMetricsText(metrics: readonly Metric[]): string {
  return `${metrics.map(toBlock).join("\n\n")}\n`;
}

function toBlock({ name, help, type, values }: Metric): string {
  const lines = values.map(
    ({ metricName = name, labels, value }) => `${metricName}${toLabels(labels)} ${toNumber(value)}`,
  );
  return [`# HELP ${name} ${escape(help)}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
}

function toLabels(labels: MetricValue["labels"]): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escape(String(value)).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function toNumber(value: number): string {
  return Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";
}

/** A metric that goes up and down: one value, or one for each combination of labels. */
export function gauge(name: string, help: string, value: number | readonly MetricValue[]): Metric {
  return { name, help, type: "gauge", values: toValues(value) };
}

/** A metric that only grows. */
export function counter(name: string, help: string, value: number | readonly MetricValue[]): Metric {
  return { name, help, type: "counter", values: toValues(value) };
}

function toValues(value: number | readonly MetricValue[]): readonly MetricValue[] {
  return typeof value === "number" ? [{ labels: {}, value }] : value;
}
