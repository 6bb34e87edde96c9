import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SpanAttributes, SpanStart, TraceSource, TraceSpan } from "../../kernel/runtime/tracing.ts";
import { parseErrorObject } from "../../wire/mcp/error-object.ts";
import type { Connection, Reply, UpstreamRequest } from "./connection.ts";

export interface TracedConnectionDeps {
  readonly traces: TraceSource;
  /** The span of the start that opened the connection. */
  readonly startSpan: TraceSpan;
  /** Of the server: what every span of this connection says. */
  readonly attributes: SpanAttributes;
}

type Traceable = Connection & { readonly pid?: number };

/**
 * The same connection, with a span around each request that belongs to a trace; the server is told that span as the
 * parent of its own work. Requests of the gateway itself (lists, probes) belong to none.
 */
export function traceConnection(connection: Traceable, deps: TracedConnectionDeps): Traceable {
  async function request(wanted: UpstreamRequest): Promise<Reply> {
    const { current } = deps.traces;
    if (current === undefined || wanted.meta?.["traceparent"] === undefined) return await connection.request(wanted);
    const span = current.begin(startOf(wanted, deps.attributes));
    try {
      const reply = await connection.request({ ...wanted, meta: span.toMeta(wanted.meta) });
      if (reply.kind === "result") span.end();
      else endWithError(span, reply.error);
      return reply;
    } catch (error) {
      span.end(toGatewayError(error).code);
      throw error;
    }
  }

  return {
    get peer() {
      return connection.peer;
    },
    request,
    notify: async (method, params) => await connection.notify(method, params),
    closed: connection.closed,
    get inFlight() {
      return connection.inFlight;
    },
    pending: () => connection.pending(),
    get lastActivityMs() {
      return connection.lastActivityMs;
    },
    ...(connection.pid === undefined ? {} : { pid: connection.pid }),
    readCard: connection.readCard,
    startSpan: deps.startSpan,
    [Symbol.asyncDispose]: async () => await connection[Symbol.asyncDispose](),
  };
}

function startOf({ method, nameHeader, meta, era }: UpstreamRequest, attributes: SpanAttributes): SpanStart {
  // For a resource, this is its URI, which is an argument.
  const target = method === "tools/call" || method === "prompts/get" ? nameHeader : undefined;
  return {
    name: target === undefined ? method : `${method} ${target}`,
    kind: "client",
    parent: meta,
    attributes: {
      "mcp.method.name": method,
      ...(method === "tools/call" ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": target } : {}),
      ...(method === "prompts/get" ? { "gen_ai.prompt.name": target } : {}),
      ...attributes,
      "toolyard.client.era": era,
    },
  };
}

/** OpenTelemetry, semantic conventions for MCP: the code of a JSON-RPC error is the type of the failure. */
function endWithError(span: TraceSpan, error: Buffer): void {
  const code = String(parseErrorObject(error).code);
  span.set({ "rpc.response.status_code": code });
  span.end(code);
}
