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

/** One line of a metric. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** The name on this line when it differs from the metric's: a histogram's buckets, sum and count have their own. */
  readonly metricName?: string;
}

/**
 * The most values of one label, and the most combinations of labels of one metric. What comes later is counted as
 * `other`: it is the first hundred servers that have a series of their own, not the busiest, because a counter must
 * never fall, and would when a server loses its place.
 */
const mostValues = 100;
const mostSeries = 2_000;
/** A label as long as a client likes would be as good as an unlimited number of them. */
const longestValue = 100;

/** Counters, one for each combination of labels. */
export interface Counts {
  add(labels: readonly string[]): void;
  readonly values: () => readonly MetricValue[];
}

/** Histograms, one for each combination of labels. */
export interface Durations {
  add(labels: readonly string[], seconds: number): void;
  values(metricName: string): readonly MetricValue[];
}

/** Makes counters with these label names. */
export function createCounts(names: readonly string[]): Counts {
  const sums = createSums(names);
  return { add: (labels) => sums.add(labels, 1), values: sums.values };
}

/** Makes sums with these label names. */
export function createSums(names: readonly string[]) {
  const series = createSeries(names, () => ({ sum: 0 }));
  return {
    add(labels: readonly string[], more: number): void {
      series.of(labels).sum += more;
    },
    values: (): readonly MetricValue[] => series.all().map(({ labels, value }) => ({ labels, value: value.sum })),
  };
}

/** Makes histograms with these label names. `bounds` are the upper limits of the buckets, in seconds, ascending. */
export function createDurations(names: readonly string[], bounds: readonly number[]): Durations {
  const series = createSeries(names, () => ({ buckets: new Float64Array(bounds.length + 1), sum: 0 }));
  return {
    add(labels, seconds) {
      const entry = series.of(labels);
      let index = 0;
      while (index < bounds.length && seconds > (bounds[index] as number)) index += 1;
      entry.buckets[index] = (entry.buckets[index] as number) + 1;
      entry.sum += seconds;
    },
    values: (metricName) =>
      series.all().flatMap(({ labels, value }) => {
        let below = 0;
        const buckets = [...value.buckets].map((count, index) => {
          below += count;
          return {
            labels: { ...labels, le: bounds[index] ?? "+Inf" },
            value: below,
            metricName: `${metricName}_bucket`,
          };
        });
        return [
          ...buckets,
          { labels, value: value.sum, metricName: `${metricName}_sum` },
          { labels, value: below, metricName: `${metricName}_count` },
        ];
      }),
  };
}

function createSeries<T>(names: readonly string[], make: () => T) {
  const byLabels = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly value: T }>();

  function open(key: string, labels: readonly string[]): T {
    const value = make();
    byLabels.set(key, { labels: Object.fromEntries(names.map((name, index) => [name, labels[index] ?? ""])), value });
    return value;
  }

  const seen = names.map(() => new Set<string>());

  function bounded(labels: readonly string[]): readonly string[] {
    return labels.map((label, index) => {
      const values = seen[index];
      if (values === undefined || label.length > longestValue) return "other";
      if (!values.has(label) && values.size >= mostValues) return "other";
      values.add(label);
      return label;
    });
  }

  /** The entry used last: consecutive calls mostly have the same labels. */
  let last: { readonly labels: readonly string[]; readonly value: T } | undefined;

  return {
    of(labels: readonly string[]): T {
      if (last?.labels.every((label, index) => label === labels[index]) === true) return last.value;
      const value = find(labels);
      last = { labels, value };
      return value;
    },
    all: () => [...byLabels.values()],
  };

  function find(labels: readonly string[]): T {
    return lookUp(labels) ?? openBounded(bounded(labels));
  }

  function openBounded(labels: readonly string[]): T {
    const known = lookUp(labels);
    if (known !== undefined) return known;
    if (byLabels.size < mostSeries) return open(labels.join("\n"), labels);
    const others = names.map(() => "other");
    return lookUp(others) ?? open(others.join("\n"), others);
  }

  function lookUp(labels: readonly string[]): T | undefined {
    return byLabels.get(labels.join("\n"))?.value;
  }
}
