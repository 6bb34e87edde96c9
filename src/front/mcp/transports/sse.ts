import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { McpHttpDeps, McpHttpHandler } from "./http.ts";
import { createHttpRun } from "./http-run.ts";
import { refuse } from "../answers/replies.ts";
import { createSseMessages } from "./sse-messages.ts";
import { createSseStreams, type SseStreams } from "./sse-streams.ts";

/** The transport that Streamable HTTP replaced. */
export interface McpSse extends Pick<SseStreams, "expire" | "endWhere"> {
  readonly handle: McpHttpHandler;
}

/**
 * MCP over HTTP+SSE (2024-11-05, transports): a GET opens an event stream, which begins with the URL that messages
 * are posted to; each POST is answered with 202, and the answer to its message comes on the stream. Sessions, limits
 * and work are those of Streamable HTTP.
 */
export function createMcpSse(deps: McpHttpDeps): McpSse {
  const streams = createSseStreams(deps);
  const receive = createSseMessages(deps, streams, createHttpRun(deps));

  return {
    handle(request, response, endpoint, principal) {
      const wanted = endpoint.sse === "stream" ? "GET" : "POST";
      try {
        if (request.method !== wanted) {
          const failure = new GatewayError(
            "HTTP_METHOD_UNSUPPORTED",
            `GET ${endpoint.path} opens an event stream, which begins with the URL that messages are posted to`,
          );
          refuse(response, failure, ["Allow", wanted]);
        } else if (endpoint.sse === "stream") streams.open({ request, response, endpoint, principal });
        else {
          const incoming = {
            request,
            response,
            endpoint,
            principal,
            stream: streams.find(request, endpoint, principal),
          };
          receive(incoming).catch((error: unknown) => refuse(response, toGatewayError(error)));
        }
      } catch (error) {
        refuse(response, toGatewayError(error));
      }
    },
    expire: streams.expire,
    endWhere: streams.endWhere,
  };
}
