import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createSessionOwners, type OwnedSessions } from "./session-owners.ts";
import { createUseOrder, type Place } from "./use-order.ts";
import { createSession, type Session, type SessionOptions } from "./session.ts";

/** All legacy sessions of the gateway. */
export interface SessionStore {
  create(options: Omit<SessionOptions, "nowMs" | "onReachable">): Session;
  /** The principal's session; undefined when it is not there, expired, or somebody else's. */
  find(id: string, principal: Principal, endpointPath: string): Session | undefined;
  /** Counts as use: a call that ended, a stream that broke off. */
  touch(session: Session): void;
  end(session: Session, reason: string): void;
  /** Ends all sessions for which the predicate holds. */
  endWhere(gone: (session: Session) => boolean, reason: string): void;
  /** Ends those that were idle for too long; called now and then, so that what they watch upstream is let go. */
  expire(): void;
  all(): Iterable<Session>;
  readonly size: number;
}

export interface SessionLimits {
  readonly sessions: number;
  readonly sessionIdleMs: number;
}

/**
 * So many are looked at in one turn, whatever there are: a client that keeps thousands of sessions must not hold up
 * the others at each new one. The next turn goes on where this one stopped.
 */
const mostLooked = 500;

/** A session, and its places among all of them and among those of its principal. */
interface Held {
  readonly session: Session;
  readonly own: OwnedSessions;
  readonly ofAll: Place<Session>;
  readonly ofOwn: Place<Session>;
  /** When it was used last, or found in use. */
  seenAtMs: number;
}

/** `onReachable` runs when something may be asked of one of the clients outside of its requests. */
export function createSessionStore(limits: SessionLimits, clock: Clock, onReachable?: () => void): SessionStore {
  const sessions = new Map<string, Held>();
  const order = createUseOrder<Session>();
  const owners = createSessionOwners();

  function end(session: Session, reason: string): void {
    const held = sessions.get(session.id);
    if (held !== undefined) {
      sessions.delete(session.id);
      order.delete(held.ofAll);
      held.own.order.delete(held.ofOwn);
      owners.release(session.principal.id);
    }
    session.close(reason);
  }

  function heldOf(place: Place<Session> | undefined): Held | undefined {
    return place && sessions.get(place.thing.id);
  }

  /** Puts it behind all others. */
  function see(held: Held, nowMs: number): void {
    held.seenAtMs = nowMs;
    order.use(held.ofAll);
    held.own.order.use(held.ofOwn);
  }

  function use(held: Held, nowMs: number): void {
    held.session.lastUseMs = nowMs;
    see(held, nowMs);
  }

  function expire(): void {
    const nowMs = clock.monotonic();
    for (let looked = 0; looked < mostLooked; looked += 1) {
      const held = heldOf(order.first);
      if (held === undefined || nowMs - held.seenAtMs <= limits.sessionIdleMs) return;
      if (isIdle(held.session, nowMs)) lapse(held.session, "the session was idle for too long");
      else see(held, nowMs);
    }
  }

  /** Ended by us, not by its client, which may come back with a new one. */
  function lapse(session: Session, reason: string): void {
    session.presence.state = "lapsed";
    session.presence.lapsedAtMs = clock.monotonic();
    end(session, reason);
  }

  /** Whoever has the most sessions gives up the one that was not used for longest, so that nobody can take them all. */
  function makeRoom(wanting: PrincipalId): boolean {
    const holder = owners.most(wanting);
    const most = Math.min(mostLooked, holder?.count ?? 0);
    for (let looked = 0; looked < most; looked += 1) {
      const oldest = heldOf(holder?.order.first);
      if (oldest === undefined) return false;
      if (!isBusy(oldest.session)) {
        lapse(oldest.session, "others needed room for a session");
        return true;
      }
      see(oldest, clock.monotonic());
    }
    return false;
  }

  function isBusy({ requests, pushes }: Session): boolean {
    return requests.size > 0 || pushes.open;
  }

  function isIdle(session: Session, nowMs: number): boolean {
    return !isBusy(session) && nowMs - session.lastUseMs > limits.sessionIdleMs;
  }

  return {
    create(options) {
      expire();
      if (sessions.size >= limits.sessions && !makeRoom(options.principal.id))
        throw new GatewayError("SESSION_LIMIT", `${sessions.size} sessions are open (limits.sessions)`, {
          hint: `End sessions with DELETE, or raise ${settingNow("limits.sessions", limits.sessions)}.`,
        });
      const nowMs = clock.monotonic();
      const session = createSession({ ...options, onReachable, nowMs });
      const own = owners.take(session.principal.id);
      const places = { ofAll: order.add(session), ofOwn: own.order.add(session) };
      sessions.set(session.id, { session, own, ...places, seenAtMs: nowMs });
      return session;
    },
    find(id, principal, endpointPath) {
      const held = sessions.get(id);
      const session = held?.session;
      if (held === undefined || session?.principal !== principal || session.endpointPath !== endpointPath)
        return undefined;
      const nowMs = clock.monotonic();
      if (isIdle(session, nowMs)) {
        lapse(session, "the session was idle for too long");
        return undefined;
      }
      use(held, nowMs);
      return session;
    },
    expire,
    touch(session) {
      const held = sessions.get(session.id);
      if (held !== undefined) use(held, clock.monotonic());
    },
    end,
    endWhere(gone, reason) {
      for (const { session } of [...sessions.values()]) if (gone(session)) end(session, reason);
    },
    *all() {
      for (const { session } of sessions.values()) yield session;
    },
    get size() {
      return sessions.size;
    },
  };
}
