import type { ServerConfig } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { SpanAttributes, TraceSource, SpanStart, TraceSpan } from "../../../kernel/runtime/tracing.ts";
import type { OpenConnection } from "../instance-deps.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import type { Connection, Reply, UpstreamRequest } from "../../upstream/connection.ts";

/**
 * Opens connections with a span around each start of a server, from when it is the server's turn until it has
 * answered the handshake. Any number of calls may wait for one start, so that it is a trace of its own, to which those
 * of the calls have links.
 */
export function traceOpening(open: OpenConnection, traces: TraceSource): OpenConnection {
  return async (server, instance, options, signal) => {
    const { current } = traces;
    if (current === undefined) return await open(server, instance, options, signal);
    const attributes = aboutServer(server);
    const span = current.begin({ name: `start ${server.slug}`, kind: "internal", parent: undefined, attributes });
    try {
      const opened = await open(server, instance, options, signal);
      const { era, revision } = opened.peer;
      span.set({ "mcp.protocol.version": revision, "toolyard.server.era": era, "process.pid": opened.pid });
      span.end();
      return traceConnection(opened, {
        traces,
        startSpan: span,
        attributes: { ...attributes, "mcp.protocol.version": revision },
      });
    } catch (error) {
      span.end(toGatewayError(error).code);
      throw error;
    }
  };
}

/** OpenTelemetry, semantic conventions for MCP: stdio is a pipe. */
function aboutServer({ slug, transport }: ServerConfig): SpanAttributes {
  const about = { "toolyard.server": slug, "toolyard.transport": transport.kind };
  if (hasProcess(transport)) return { ...about, "network.transport": "pipe" };
  const address = URL.canParse(transport.url) ? new URL(transport.url).hostname : undefined;
  return { ...about, "network.transport": "tcp", "server.address": address };
}

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
function traceConnection(connection: Traceable, deps: TracedConnectionDeps): Traceable {
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
    replicas: connection.replicas,
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
