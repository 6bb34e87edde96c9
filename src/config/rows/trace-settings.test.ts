import { expect, test } from "vitest";
import { readTraceSettings } from "./trace-settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

test.each([
  ["nothing", {}],
  ["an empty endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
  ["a service name alone", { OTEL_SERVICE_NAME: "x" }],
  ["OTEL_SDK_DISABLED", { ...endpoint, OTEL_SDK_DISABLED: "TRUE" }],
  ["the exporter none", { ...endpoint, OTEL_TRACES_EXPORTER: "none" }],
])("%s asks for no traces", (_what, env) => {
  expect(readTraceSettings(env)).toEqual({ settings: undefined, warnings: [] });
});

test.each([
  ["the base of all signals", endpoint, "http://collector:4318/v1/traces"],
  ["a base with a path", { OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/otlp/" }, "https://c/otlp/v1/traces"],
  ["a base with a path and no slash", { OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/otlp" }, "https://c/otlp/v1/traces"],
  ["that of traces, as it is", { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t/here" }, "http://t/here"],
  ["the exporter otlp alone", { OTEL_TRACES_EXPORTER: "otlp" }, "http://localhost:4318/v1/traces"],
])("traces go where %s says", (_what, env, url) => {
  expect(readTraceSettings(env)).toMatchObject({ settings: { url, format: "protobuf" }, warnings: [] });
});

test("without more variables, values are those of the specification", () => {
  expect(readTraceSettings(endpoint).settings).toEqual({
    url: "http://collector:4318/v1/traces",
    format: "protobuf",
    headers: {},
    compression: "none",
    timeoutMs: 10_000,
    resource: { "service.name": "toolyard" },
    sampler: { ratio: 1, isParentBased: true },
    delayMs: 5_000,
    queuedSpans: 2_048,
    batchSpans: 512,
  });
});

test("variables of traces go before those of all signals; pairs are percent-decoded", () => {
  const { settings, warnings } = readTraceSettings({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "a=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20x%3Dy, x-team = one,=none,nothing,bad=%zz",
    OTEL_EXPORTER_OTLP_TIMEOUT: "100",
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "200",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other,service.namespace=tools",
    OTEL_SERVICE_NAME: "yard",
    OTEL_BSP_MAX_QUEUE_SIZE: "10",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "20",
  });
  expect(warnings).toEqual([]);
  expect(settings).toMatchObject({
    headers: { authorization: "Bearer x=y", "x-team": "one", bad: "%zz" },
    timeoutMs: 200,
    format: "json",
    compression: "gzip",
    resource: { "service.name": "yard", "service.namespace": "tools" },
    // A queue that holds less than one batch would never be sent.
    queuedSpans: 20,
    batchSpans: 20,
  });
});

test.each([
  ["always_on", { ratio: 1, isParentBased: false }],
  ["always_off", { ratio: 0, isParentBased: false }],
  ["traceidratio", { ratio: 0.25, isParentBased: false }],
  ["parentbased_always_on", { ratio: 1, isParentBased: true }],
  ["parentbased_always_off", { ratio: 0, isParentBased: true }],
  ["parentbased_traceidratio", { ratio: 0.25, isParentBased: true }],
])("the sampler %s", (name, sampler) => {
  const env = { ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: "0.25" };
  expect(readTraceSettings(env)).toMatchObject({ settings: { sampler }, warnings: [] });
});

test.each([
  [{ OTEL_TRACES_SAMPLER: "toString" }, /^OTEL_TRACES_SAMPLER: expected one of always_on, /],
  [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, /^OTEL_TRACES_SAMPLER_ARG: /],
  [{ OTEL_BSP_SCHEDULE_DELAY: "soon" }, /^OTEL_BSP_SCHEDULE_DELAY: expected a whole number/],
])("a wrong value is reported, and as good as absent: %o", (env, warning) => {
  const { settings, warnings } = readTraceSettings({ ...endpoint, ...env });
  expect(warnings).toEqual([expect.stringMatching(warning)]);
  expect(settings).toMatchObject({ sampler: { ratio: 1 }, delayMs: 5_000 });
});

test.each([
  ["another exporter", { OTEL_TRACES_EXPORTER: "console" }, /^OTEL_TRACES_EXPORTER: only otlp/],
  ["gRPC", { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /^OTEL_EXPORTER_OTLP_PROTOCOL: .* port 4318/],
  ["an address that is none", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /^OTEL_EXPORTER_OTLP_ENDPOINT: /],
  ["a file", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "file:///x" }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: /],
])("what cannot be done turns traces off, and says so: %s", (_what, env, warning) => {
  expect(readTraceSettings(env)).toEqual({ settings: undefined, warnings: [expect.stringMatching(warning)] });
});
