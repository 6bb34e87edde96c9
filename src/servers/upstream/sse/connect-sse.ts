import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { abortReason } from "../../../kernel/abort.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { newestLegacyRevision } from "../../../wire/mcp/revisions.ts";
import { GatewayError } from "../../../kernel/gateway-error.ts";
import type { Connection, Peer, UpstreamRequest } from "../connection.ts";
import { createDialect } from "../encode.ts";
import { declaredCapabilities, initializeParams, peerFromInitialize } from "../handshake.ts";
import { parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { openSseChannel, type SseChannel, type SseOptions } from "./sse-channel.ts";

/**
 * Connects over HTTP+SSE (2024-11-05, transports): the server sends all messages on one GET stream, and ours are
 * POSTed to the endpoint that it names first. The connection ends with that stream. Rejects as connectHttp does, with
 * UPSTREAM_HTTP when the URL gives no event stream.
 */
export async function connectSse(options: SseOptions, signal: AbortSignal): Promise<Connection> {
  const { server, wire, lifetime, identity } = options;
  const channel = await openSseChannel(options, signal);
  const peer = await initialize(channel, options, signal);
  await channel.post(writeNotification("notifications/initialized", {}));
  let disposing: Promise<void> | undefined;

  async function dispose(): Promise<void> {
    lifetime.end({ kind: "asked" });
    channel.failAll(() => new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`));
    lifetime.abort();
    wire.dispose();
  }

  channel.setDialect(createDialect("legacy", peer.revision, identity, {}));
  return {
    peer,
    request: (request) => channel.request(request),
    notify: (method, params) => channel.post(writeNotification(method, params)),
    closed: lifetime.closed,
    get inFlight() {
      return channel.size;
    },
    pending: () => channel.pending(),
    get lastActivityMs() {
      return wire.lastActivityMs;
    },
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
}

async function initialize(
  channel: SseChannel,
  { server, identity, wire }: SseOptions,
  signal: AbortSignal,
): Promise<Peer> {
  const timeoutMs = wire.tuning.initializeTimeoutMs;
  const params = Object.entries(initializeParams(identity, declaredCapabilities(wire.roots))).map(
    ([key, value]) => [key, Buffer.from(asciiJson(value), "latin1")] as const,
  );
  const request: UpstreamRequest = {
    method: "initialize",
    params,
    signal,
    timeoutMs,
    maxTimeoutMs: timeoutMs,
  };
  channel.setDialect(createDialect("legacy", newestLegacyRevision, identity, {}));
  const reply = await channel.request(request).catch((error: unknown) => {
    throw signal.aborted ? abortReason(signal) : error;
  });
  if (reply.kind === "result") return peerFromInitialize(server, reply.result);
  const { code, message } = parseErrorObject(reply.error);
  const said = `${server} refused initialize with error ${code}: ${message.slice(0, 200)}`;
  throw new GatewayError("UPSTREAM_PROTOCOL", said, { data: { code } });
}
