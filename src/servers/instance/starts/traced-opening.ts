import type { ServerConfig } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { SpanAttributes, TraceSource } from "../../../kernel/runtime/tracing.ts";
import { traceConnection } from "../../upstream/traced-connection.ts";
import type { OpenConnection } from "../instance-deps.ts";

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
