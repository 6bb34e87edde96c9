import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TraceSource } from "../../kernel/runtime/tracing.ts";
import type { Connection } from "../../servers/upstream/connection.ts";
import type { ServerCall } from "./server-call.ts";

/**
 * Waits for a server that is starting, with a span in the call's trace that has a link to the start. To be called only
 * when there is something to wait for.
 */
export async function waitTraced(
  traces: TraceSource | undefined,
  { instance, context }: ServerCall,
  starting: Promise<Connection>,
): Promise<Connection> {
  if (traces?.current === undefined) return await starting;
  const { slug } = instance.server;
  const span = traces.current.begin({
    name: `wait for ${slug}`,
    kind: "internal",
    parent: context.meta,
    attributes: { "toolyard.server": slug },
  });
  try {
    const connection = await starting;
    if (connection.startSpan !== undefined) span.linkTo(connection.startSpan);
    span.end();
    return connection;
  } catch (error) {
    span.end(toGatewayError(error).code);
    throw error;
  }
}
