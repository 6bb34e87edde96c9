import fc from "fast-check";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { metricsType, toMetricsText, type Metric } from "./metric-values.ts";

const text = fc.string({ unit: fc.constantFrom("a", "ä", "🙂", '"', "\\", "\n", "{", " ", "=") });
/** Without names such as `constructor`, which prom-client takes for metrics that it has already. */
const name = fc.stringMatching(/^[a-z_]{1,12}$/).filter((one) => !(one in {}));
const metric = fc.record({
  name,
  help: text,
  type: fc.constantFrom("counter" as const, "gauge" as const, "histogram" as const),
  values: fc.array(
    fc.record(
      {
        labels: fc.dictionary(name, fc.oneof(text, fc.double({ noNaN: true })), { maxKeys: 3 }),
        value: fc.double({ noNaN: true }),
        metricName: name,
      },
      { requiredKeys: ["labels", "value"] },
    ),
    { maxLength: 4 },
  ),
});

test("the text is what prom-client writes for the same metrics", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(metric, { selector: (one) => one.name, maxLength: 5 }), async (metrics) => {
      expect(toMetricsText(metrics as Metric[])).toBe(await byPromClient(metrics as Metric[]));
    }),
  );
  expect(metricsType).toBe(new Registry().contentType);
});

test("what is no number is NaN, as Go reads it", () => {
  const values = [{ labels: {}, value: Number.NaN }];
  expect(toMetricsText([{ name: "a", help: "b", type: "gauge", values }])).toBe("# HELP a b\n# TYPE a gauge\na NaN\n");
});

async function byPromClient(metrics: readonly Metric[]): Promise<string> {
  const registry = new Registry();
  for (const one of metrics)
    registry.registerMetric({ ...one, aggregator: "sum", get: () => Promise.resolve(one) } as never);
  return await registry.metrics();
}
