import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { readFields, textOf, type Field } from "./protobuf-fields.ts";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** "" where a trace begins. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2: error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, string | number>>;
}

export interface TraceCollector extends AsyncDisposable {
  /** Base of the OTLP endpoints. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Path, content type and headers of each export. */
  readonly exports: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[];
  /** Everything that came, undecoded. */
  readonly bytes: Buffer[];
  /** Forgets what came. */
  clear(): void;
}

/** Takes spans over OTLP/HTTP (opentelemetry-proto, collector/trace/v1) and decodes them, from protobuf or JSON. */
export async function startTraceCollector(status = 200): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const exports: { path: string; headers: Record<string, unknown> }[] = [];
  const bytes: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      const isJson = request.headers["content-type"] === "application/json";
      bytes.push(body);
      exports.push({ path: request.url ?? "", headers: { ...request.headers } });
      spans.push(...(isJson ? fromJson(JSON.parse(body.toString("utf8")) as JsonExport) : fromProtobuf(body)));
      response.writeHead(status, { "content-type": isJson ? "application/json" : "application/x-protobuf" });
      response.end(isJson ? "{}" : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    exports,
    bytes,
    clear() {
      spans.length = 0;
      exports.length = 0;
      bytes.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function fromProtobuf(body: Buffer): CollectedSpan[] {
  return all(readFields(body), 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = all(readFields(resourceSpans), 1);
    const attributes = attributesOf(all(readFields(resource), 1));
    return all(readFields(resourceSpans), 2)
      .flatMap((scopeSpans) => all(readFields(scopeSpans), 2))
      .map((span) => toSpan(readFields(span), attributes));
  });
}

function toSpan(fields: readonly Field[], resource: CollectedSpan["resource"]): CollectedSpan {
  const hex = (number: number): string => all(fields, number)[0]?.toString("hex") ?? "";
  const integer = (number: number): bigint => BigInt(fields.find((field) => field.number === number)?.value as bigint);
  const [status] = all(fields, 15);
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    traceState: textOf(fields, 3),
    name: textOf(fields, 5),
    kind: Number(integer(6)),
    startNs: integer(7),
    endNs: integer(8),
    attributes: attributesOf(all(fields, 9)),
    links: all(fields, 13).map((link) => {
      const [traceId, spanId] = [1, 2].map((number) => all(readFields(link), number)[0]?.toString("hex") ?? "");
      return { traceId: traceId ?? "", spanId: spanId ?? "" };
    }),
    status: status === undefined ? 0 : Number(readFields(status).find((field) => field.number === 3)?.value ?? 0),
    resource,
  };
}

/** The values of a field that is a message, text or bytes. */
function all(fields: readonly Field[], number: number): Buffer[] {
  return fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));
}

/** `KeyValue` with text and whole numbers, which is all that the gateway sends. */
function attributesOf(pairs: readonly Buffer[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = readFields(pair);
      const value = readFields(all(fields, 2)[0] ?? Buffer.alloc(0))[0]?.value;
      return [textOf(fields, 1), Buffer.isBuffer(value) ? value.toString("utf8") : Number(value)];
    }),
  );
}

interface JsonPair {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface JsonSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly JsonPair[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
}

interface JsonExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly JsonPair[] };
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
  }[];
}

function fromJson({ resourceSpans }: JsonExport): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? "",
        traceState: span.traceState ?? "",
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: fromPairs(span.attributes),
        status: span.status.code,
        resource: fromPairs(resource.attributes),
      })),
  );
}

function fromPairs(pairs: readonly JsonPair[]): Record<string, string | number> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
