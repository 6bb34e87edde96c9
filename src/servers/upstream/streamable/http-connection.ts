import { untilAborted } from "../../../kernel/abort.ts";
import type { Era } from "../../../kernel/call-context.ts";
import { GatewayError, toGatewayError } from "../../../kernel/gateway-error.ts";
import type { Connection, ConnectionEvents, Peer, Reply, UpstreamRequest } from "../connection.ts";
import type { GatewayIdentity } from "../encode.ts";
import type { Channel } from "./channel.ts";
import { createLegacyChannel, type LegacyChannel } from "./legacy-channel.ts";
import { openLegacySession, type LegacySession } from "./legacy-session.ts";
import type { Lifetime } from "./lifetime.ts";
import { createModernChannel } from "./modern-channel.ts";
import { discover, type Verdict } from "./negotiate.ts";
import type { Wire } from "./wire.ts";

export interface HttpConnectionOptions {
  readonly server: string;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
  readonly verdict: Exclude<Verdict, { kind: "neither" }>;
}

/**
 * A connection over Streamable HTTP. Modern requests are stateless; legacy ones go in a session, which a server that answered as a
 * modern one is asked for when the first legacy request comes: what it lists of itself need not name the legacy revisions.
 */
export function createHttpConnection(options: HttpConnectionOptions): Connection {
  const { wire, lifetime, verdict, events, identity, server } = options;
  let modern: Channel | undefined;
  let legacy: LegacyChannel | undefined;
  let peer: Peer;
  let opening: Promise<LegacyChannel | undefined> | undefined;
  let reconsidering: Promise<Channel | undefined> | undefined;
  let disposing: Promise<void> | undefined;

  if (verdict.kind === "modern") {
    peer = verdict.peer;
    modern = createModernChannel({
      wire,
      identity,
      events,
      reconsider: () => (reconsidering ??= reconsider()),
    });
  } else {
    peer = verdict.session.peer;
    legacy = startLegacy(verdict.session);
  }

  function startLegacy(session: LegacySession): LegacyChannel {
    const onLost = (reason: string) => lifetime.end({ kind: "lost", reason: `${server}: ${reason}` });
    return createLegacyChannel({
      wire,
      identity,
      events,
      session,
      signal: lifetime.signal,
      onLost,
    });
  }

  /** The session of a server that is (also) legacy, made once; undefined when it has none. */
  function openLegacy(): Promise<LegacyChannel | undefined> {
    opening ??= tryLegacy().catch((error: unknown) => {
      // Not reached: the next legacy request tries again.
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function tryLegacy(): Promise<LegacyChannel | undefined> {
    try {
      const answer = await openLegacySession(wire, identity, lifetime.signal);
      if (answer.kind === "refused") return undefined;
      legacy = startLegacy(answer.session);
      peer = { ...peer, eras: withEra(peer.eras, "legacy") };
      return legacy;
    } catch (error) {
      // A modern server may do anything to an initialize, also nothing.
      if (error instanceof GatewayError && (error.code === "UPSTREAM_TIMEOUT" || error.code === "UPSTREAM_PROTOCOL"))
        return undefined;
      throw error;
    }
  }

  /** Once per connection: a server that answers like a legacy one is asked again what it is. */
  async function reconsider(): Promise<Channel | undefined> {
    if ((await discover(wire, identity, lifetime.signal)) !== undefined) return undefined;
    const channel = await openLegacy();
    if (channel === undefined) return undefined;
    modern = undefined;
    peer = { ...peer, era: "legacy", eras: ["legacy"] };
    return channel;
  }

  function request(wanted: UpstreamRequest): Promise<Reply> {
    if (disposing !== undefined) return Promise.reject(closedError(server));
    const era = wanted.era ?? peer.era;
    if (era === "modern" && modern !== undefined) return modern.request(wanted);
    if (legacy !== undefined) return legacy.request(wanted);
    return requestInLegacy(wanted);
  }

  async function requestInLegacy(wanted: UpstreamRequest): Promise<Reply> {
    let channel: Channel | undefined;
    try {
      channel = (await untilAborted(openLegacy(), wanted.signal)) ?? modern;
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
    for (const channel of [modern, legacy]) channel?.failAll(() => closedError(server));
    lifetime.abort();
    if (isReachable) await legacy?.end();
    wire.dispose();
  }

  return {
    get peer() {
      return peer;
    },
    request,
    async notify(method, params) {
      // Revision 2026-07-28 has no notifications from clients over HTTP.
      await legacy?.notify(method, params);
    },
    closed: lifetime.closed,
    get inFlight() {
      return (modern?.size ?? 0) + (legacy?.size ?? 0);
    },
    get lastActivityMs() {
      return wire.lastActivityMs;
    },
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
}

function withEra(eras: readonly Era[], era: Era): readonly Era[] {
  return eras.includes(era) ? eras : [...eras, era];
}

function closedError(server: string): GatewayError {
  return new GatewayError("UPSTREAM_CLOSED", `the connection to ${server} was closed`);
}
