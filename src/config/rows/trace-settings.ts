import { givenVariable } from "../given.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where traces go, and which, as the standard variables of OpenTelemetry say. */
export interface TraceSettings {
  /** Where spans are POSTed to. */
  readonly url: string;
  readonly format: "protobuf" | "json";
  /** May contain credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: "gzip" | "none";
  /** Of one export. */
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: TraceSampler;
  /** Spans wait this long for others to be sent with. */
  readonly delayMs: number;
  /** The most spans that wait; further ones are dropped. */
  readonly queuedSpans: number;
  /** The most spans of one export. */
  readonly batchSpans: number;
}

export interface TraceSampler {
  /** What happens to a trace that begins here. 1: every one is recorded, 0: none. */
  readonly ratio: number;
  /** Whether a parent's decision is followed. */
  readonly isParentBased: boolean;
}

/** The settings, and the mistakes in given variables. Undefined settings: traces are off. */
export interface TracesAsked {
  readonly settings: TraceSettings | undefined;
  readonly warnings: readonly string[];
}

/**
 * Reads the variables of OpenTelemetry's specification ("Environment Variable Specification", "OTLP Exporter
 * Configuration"). Traces are on when an endpoint or `OTEL_TRACES_EXPORTER=otlp` is given, and off with
 * `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none`. As the specification asks, a wrong value is reported and
 * then treated as if it were not there. Never throws.
 */
export function readTraceSettings(env: Environment): TracesAsked {
  const warnings: string[] = [];
  const read = (name: string): string | undefined => givenVariable(name, env)?.text.trim() || undefined;
  const off = (): TracesAsked => ({ settings: undefined, warnings });
  const exporter = read("OTEL_TRACES_EXPORTER");
  const own = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const shared = read("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (read("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || exporter === "none") return off();
  if (exporter === undefined && own === undefined && shared === undefined) return off();
  if (exporter !== undefined && !exporter.split(",").some((name) => name.trim() === "otlp")) {
    warnings.push("OTEL_TRACES_EXPORTER: only otlp is supported, so no traces are sent");
    return off();
  }
  const reader: Reader = {
    either: (name) => read(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`),
    read,
    warnings,
  };
  const url = own === undefined ? below(shared ?? "http://localhost:4318") : toUrl(own);
  if (url === undefined) {
    const name = own === undefined ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    warnings.push(`${name}: expected an http or https URL, so no traces are sent`);
    return off();
  }
  const format = formatOf(reader);
  if (format === undefined) return off();
  return { settings: { url, format, ...exportSettings(reader) }, warnings };
}

interface Reader {
  /** The variable for traces, otherwise that for all signals. */
  either(name: string): string | undefined;
  read(name: string): string | undefined;
  readonly warnings: string[];
}

function exportSettings(reader: Reader): Omit<TraceSettings, "url" | "format"> {
  const batchSpans = wholeNumber(reader, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512);
  return {
    headers: pairsOf(reader.either("HEADERS")),
    compression: reader.either("COMPRESSION") === "gzip" ? "gzip" : "none",
    timeoutMs: Number(reader.either("TIMEOUT")) || 10_000,
    resource: {
      "service.name": "toolyard",
      ...pairsOf(reader.read("OTEL_RESOURCE_ATTRIBUTES")),
      ...nameOf(reader.read("OTEL_SERVICE_NAME")),
    },
    sampler: samplerOf(reader),
    delayMs: wholeNumber(reader, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
    queuedSpans: Math.max(wholeNumber(reader, "OTEL_BSP_MAX_QUEUE_SIZE", 2_048), batchSpans),
    batchSpans,
  };
}

function nameOf(name: string | undefined): Readonly<Record<string, string>> {
  return name === undefined ? {} : { "service.name": name };
}

function toUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

/** The endpoint of all signals is the base of each (OTLP Exporter Configuration, "Endpoint URLs for OTLP/HTTP"). */
function below(base: string): string | undefined {
  return toUrl(base) === undefined ? undefined : new URL("v1/traces", base.endsWith("/") ? base : `${base}/`).href;
}

function formatOf({ either, warnings }: Reader): TraceSettings["format"] | undefined {
  const protocol = either("PROTOCOL") ?? "http/protobuf";
  if (protocol === "http/protobuf") return "protobuf";
  if (protocol === "http/json") return "json";
  warnings.push(
    "OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf and http/json are supported, so no traces are sent; " +
      "collectors take them at port 4318",
  );
  return undefined;
}

const samplers: Readonly<Record<string, { readonly ratio: number | "given"; readonly isParentBased: boolean }>> = {
  always_on: { ratio: 1, isParentBased: false },
  always_off: { ratio: 0, isParentBased: false },
  traceidratio: { ratio: "given", isParentBased: false },
  parentbased_always_on: { ratio: 1, isParentBased: true },
  parentbased_always_off: { ratio: 0, isParentBased: true },
  parentbased_traceidratio: { ratio: "given", isParentBased: true },
};

function samplerOf({ read, warnings }: Reader): TraceSampler {
  const name = read("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const found = Object.hasOwn(samplers, name) ? samplers[name] : undefined;
  if (found === undefined) {
    warnings.push(`OTEL_TRACES_SAMPLER: expected one of ${Object.keys(samplers).join(", ")}`);
    return { ratio: 1, isParentBased: true };
  }
  if (found.ratio !== "given") return { ...found, ratio: found.ratio };
  const argument = read("OTEL_TRACES_SAMPLER_ARG");
  const ratio = Number(argument ?? 1);
  if (ratio >= 0 && ratio <= 1) return { ...found, ratio };
  warnings.push("OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1");
  return { ...found, ratio: 1 };
}

function wholeNumber({ read, warnings }: Reader, name: string, normally: number): number {
  const text = read(name);
  if (text === undefined) return normally;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  warnings.push(`${name}: expected a whole number from 1 on`);
  return normally;
}

/** `key=value,key=value`, with percent-encoded values (W3C Baggage, without its properties). */
function pairsOf(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? "").split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(at, 0)).trim();
    return key === "" ? [] : [[decoded(key), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
