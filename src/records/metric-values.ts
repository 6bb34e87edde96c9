/** One line of a metric. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Where it is not the metric's own: a histogram's buckets, sum and count. */
  readonly metricName?: string;
}

/** Combinations of labels that are told apart; what comes after them is counted together as `other`. */
const mostSeries = 500;

export interface Counts {
  add(labels: readonly string[]): void;
  readonly values: () => readonly MetricValue[];
}

export interface Durations {
  add(labels: readonly string[], seconds: number): void;
  values(metricName: string): readonly MetricValue[];
}

/** A counter for each combination of labels. */
export function createCounts(names: readonly string[]): Counts {
  const series = createSeries(names, () => ({ count: 0 }));
  return {
    add(labels) {
      series.of(labels).count += 1;
    },
    values: () => series.all().map(({ labels, value }) => ({ labels, value: value.count })),
  };
}

/** A histogram for each combination of labels. `bounds` in seconds, ascending. */
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

  /** One call is mostly like the one before. */
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
    const key = labels.join("\n");
    const known = byLabels.get(key);
    if (known !== undefined) return known.value;
    if (byLabels.size < mostSeries) return open(key, labels);
    const others = names.map(() => "other");
    return byLabels.get(others.join("\n"))?.value ?? open(others.join("\n"), others);
  }
}
