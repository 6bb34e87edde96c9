import { writeNotification } from "../../../wire/mcp/envelope.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { capabilitiesOf, type Rung } from "../declared-capabilities.ts";
import type { Connection, Peer, UpstreamRequest } from "../connection.ts";
import { createDialect } from "../messages/encode.ts";
import { initializeParams, initializeRefusal, peerFromInitialize } from "../handshake.ts";
import { createLadder, type StepFailure } from "../ladder.ts";
import { openSseChannel, type SseChannel, type SseOptions } from "./sse-channel.ts";

/**
 * Connects over HTTP+SSE (2024-11-05, transports): the server sends all messages on one GET stream, and ours are
 * POSTed to the endpoint that it names first. The connection ends with that stream. Rejects as connectHttp does, with
 * UPSTREAM_HTTP when the URL gives no event stream.
 */
export async function connectSse(options: SseOptions, signal: AbortSignal): Promise<Connection> {
  const { server, wire, lifetime } = options;
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

/** Asks in the order of `ladder`, which has no probe here: only the oldest revision has this transport. */
async function initialize(channel: SseChannel, options: SseOptions, signal: AbortSignal): Promise<Peer> {
  const ladder = createLadder({ ...options, mayProbe: false });
  for (let step = ladder.next(); step !== undefined; step = ladder.next()) {
    if (step.kind !== "initialize") continue;
    const peer = await initializeAs(step.rung, channel, options, signal);
    if (!("why" in peer)) return peer;
    ladder.refused(peer);
  }
  throw ladder.failure();
}

async function initializeAs(
  rung: Rung,
  channel: SseChannel,
  { server, identity, wire }: SseOptions,
  signal: AbortSignal,
): Promise<Peer | StepFailure> {
  const timeoutMs = wire.tuning.initializeTimeoutMs;
  const params = Object.entries(initializeParams(identity, rung, wire.roots)).map(
    ([key, value]) => [key, Buffer.from(asciiJson(value), "latin1")] as const,
  );
  const request: UpstreamRequest = {
    method: "initialize",
    params,
    signal,
    timeoutMs,
    maxTimeoutMs: timeoutMs,
  };
  channel.setDialect(createDialect("legacy", rung.revision, identity, capabilitiesOf(rung, wire.roots !== undefined)));
  try {
    const reply = await channel.request(request);
    return reply.kind === "result"
      ? peerFromInitialize(server, reply.result, rung, wire.knownHandshake)
      : initializeRefusal(server, reply.error);
  } catch (error) {
    if (signal.aborted) throw abortReason(signal);
    const failure = toGatewayError(error);
    if (failure.code !== "UPSTREAM_HTTP") throw failure;
    return { why: failure.message, failure };
  }
}
