import { untilAborted } from "../../../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../../../kernel/failures/gateway-error.ts";
import type { Connection, Reply, UpstreamRequest, Channel } from "../../connection.ts";
import { createEraChannels, type HttpConnectionOptions } from "../era-channels.ts";

/**
 * A connection over Streamable HTTP. Modern requests are stateless; legacy ones go in a session. When the first
 * legacy request comes, even a server that answered as a modern one is asked for a session, because a modern server
 * need not list the legacy revisions that it also speaks.
 */
export function createHttpConnection(options: HttpConnectionOptions): Connection {
  const { wire, lifetime, server } = options;
  const channels = createEraChannels(options);
  let disposing: Promise<void> | undefined;

  function request(wanted: UpstreamRequest): Promise<Reply> {
    if (disposing !== undefined) return Promise.reject(closedError(server));
    const { modern, legacy } = channels;
    const era = wanted.era ?? channels.peer.era;
    if (era === "modern" && modern !== undefined) return modern.request(wanted);
    if (legacy !== undefined) return legacy.request(wanted);
    return requestInLegacy(wanted);
  }

  async function requestInLegacy(wanted: UpstreamRequest): Promise<Reply> {
    let channel: Channel | undefined;
    try {
      channel = (await untilAborted(channels.openLegacy(), wanted.signal)) ?? channels.modern;
    } catch (error) {
      if (wanted.signal.aborted)
        throw new GatewayError("CALL_CANCELLED", `${wanted.method} to ${server} was cancelled by the caller`);
      throw disposing === undefined ? toGatewayError(error) : closedError(server);
    }
    if (channel === undefined) throw closedError(server);
    return await channel.request(wanted);
  }

  async function dispose(): Promise<void> {
    const isReachable = lifetime.ending === undefined;
    lifetime.end({ kind: "asked" });
    for (const channel of [channels.modern, channels.legacy]) channel?.failAll(() => closedError(server));
    lifetime.abort();
    if (isReachable) await channels.legacy?.end();
    wire.dispose();
  }

  return {
    get peer() {
      return channels.peer;
    },
    request,
    async notify(method, params) {
      // Revision 2026-07-28 has no notifications from clients over HTTP.
      await channels.legacy?.notify(method, params);
    },
    closed: lifetime.closed,
    get inFlight() {
      return (channels.modern?.size ?? 0) + (channels.legacy?.size ?? 0);
    },
    pending: () => [...(channels.modern?.pending() ?? []), ...(channels.legacy?.pending() ?? [])],
    get lastActivityMs() {
      return wire.lastActivityMs;
    },
    readCard: options.readCard,
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
}

function closedError(server: string): GatewayError {
  return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
}
