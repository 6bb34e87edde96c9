import type { Era } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Connection, ConnectionEvents, Peer, Channel } from "../connection.ts";
import type { GatewayIdentity } from "../messages/encode.ts";
import { createLegacyChannel, type LegacyChannel } from "./legacy/legacy-channel.ts";
import { createLadder } from "../ladder.ts";
import type { LegacySession } from "./legacy/legacy-session.ts";
import { createRenewalBudget, type RenewalBudget } from "../messages/renewal-budget.ts";
import type { Lifetime } from "./legacy/lifetime.ts";
import { createModernChannel } from "./modern-channel.ts";
import { discover, negotiate, type Negotiated } from "./negotiate.ts";
import type { Wire } from "./exchange/wire.ts";

/** What a connection is made from after the era was negotiated. */
export interface HttpConnectionOptions {
  readonly server: string;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly renewals?: RenewalBudget | undefined;
  readonly wire: Wire;
  readonly lifetime: Lifetime;
  readonly negotiated: Exclude<Negotiated, { kind: "neither" }>;
  readonly readCard?: Connection["readCard"];
}

/** Facts about the server, with a channel for each era that it speaks. */
export interface EraChannels {
  readonly peer: Peer;
  readonly modern: Channel | undefined;
  readonly legacy: LegacyChannel | undefined;
  /**
   * Opens a session with a server that is modern, because it may be legacy as well. Resolves to undefined when it is
   * not. Everybody who asks gets the same session.
   */
  openLegacy(): Promise<LegacyChannel | undefined>;
}

/** The channel of the era that was negotiated; the other one is made when it is first needed. */
export function createEraChannels(options: HttpConnectionOptions): EraChannels {
  const { wire, lifetime, negotiated, events, identity, server } = options;
  const { renewals = createRenewalBudget() } = options;
  let modern: Channel | undefined;
  let legacy: LegacyChannel | undefined;
  let peer: Peer;
  let opening: Promise<LegacyChannel | undefined> | undefined;
  let reconsidering: Promise<Channel | undefined> | undefined;

  if (negotiated.kind === "modern") {
    peer = negotiated.peer;
    modern = createModernChannel({
      wire,
      identity,
      events,
      reconsider: () => (reconsidering ??= reconsider()),
    });
  } else {
    peer = negotiated.session.peer;
    legacy = startLegacy(negotiated.session);
  }

  function startLegacy(session: LegacySession): LegacyChannel {
    const onLost = (reason: string) => lifetime.end({ kind: "lost", reason: `${server}: ${reason}` });
    return createLegacyChannel({
      wire,
      identity,
      events,
      session,
      renewals,
      signal: lifetime.signal,
      onLost,
    });
  }

  /** See {@link EraChannels.openLegacy}. */
  function openLegacy(): Promise<LegacyChannel | undefined> {
    opening ??= tryLegacy().catch((error: unknown) => {
      // The server was not reached, so the next legacy request tries again.
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function tryLegacy(): Promise<LegacyChannel | undefined> {
    try {
      const answer = await negotiate(
        wire,
        identity,
        createLadder({ server, knownEras: undefined, mayProbe: false, events }),
        lifetime.signal,
      );
      if (answer.kind !== "legacy") return undefined;
      legacy = startLegacy(answer.session);
      peer = { ...peer, eras: withEra(peer.eras, "legacy") };
      return legacy;
    } catch (error) {
      // A modern server may answer `initialize` with anything, or not at all.
      if (error instanceof GatewayError && notLegacy.has(error.code)) return undefined;
      throw error;
    }
  }

  /** Asks a server that answers like a legacy one again which era it speaks; once per connection. */
  async function reconsider(): Promise<Channel | undefined> {
    if (!("why" in (await discover(wire, identity, lifetime.signal)))) return undefined;
    const channel = await openLegacy();
    if (channel === undefined) return undefined;
    modern = undefined;
    peer = { ...peer, era: "legacy", eras: ["legacy"] };
    return channel;
  }

  return {
    get peer() {
      return peer;
    },
    get modern() {
      return modern;
    },
    get legacy() {
      return legacy;
    },
    openLegacy,
  };
}

const notLegacy: ReadonlySet<string> = new Set(["UPSTREAM_TIMEOUT", "UPSTREAM_PROTOCOL", "UPSTREAM_HTTP"]);

function withEra(eras: readonly Era[], era: Era): readonly Era[] {
  return eras.includes(era) ? eras : [...eras, era];
}
