import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
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

/** `onReachable` runs when something may be asked of one of the clients outside of its requests. */
export function createSessionStore(limits: SessionLimits, clock: Clock, onReachable?: () => void): SessionStore {
  const sessions = new Map<string, Session>();

  function end(session: Session, reason: string): void {
    sessions.delete(session.id);
    session.close(reason);
  }

  function expire(): void {
    const nowMs = clock.monotonic();
    for (const session of sessions.values()) {
      if (isIdle(session, nowMs)) lapse(session, "the session was idle for too long");
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
    const counts = new Map<PrincipalId, number>();
    for (const { principal } of sessions.values()) counts.set(principal.id, (counts.get(principal.id) ?? 0) + 1);
    const [holder] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
    if (holder === wanting) return false;
    const idle = [...sessions.values()].filter(
      ({ principal, requests, pushes }) => principal.id === holder && requests.size === 0 && !pushes.open,
    );
    const [first, ...rest] = idle;
    if (first === undefined) return false;
    const oldest = rest.reduce((old, one) => (one.lastUseMs < old.lastUseMs ? one : old), first);
    lapse(oldest, "others needed room for a session");
    return true;
  }

  function isIdle(session: Session, nowMs: number): boolean {
    return session.requests.size === 0 && !session.pushes.open && nowMs - session.lastUseMs > limits.sessionIdleMs;
  }

  return {
    create(options) {
      expire();
      if (sessions.size >= limits.sessions && !makeRoom(options.principal.id))
        throw new GatewayError("SESSION_LIMIT", `${sessions.size} sessions are open (limits.sessions)`, {
          hint: `End sessions with DELETE, or raise ${settingNow("limits.sessions", limits.sessions)}.`,
        });
      const session = createSession({ ...options, onReachable, nowMs: clock.monotonic() });
      sessions.set(session.id, session);
      return session;
    },
    find(id, principal, endpointPath) {
      const session = sessions.get(id);
      if (session === undefined || session.principal !== principal || session.endpointPath !== endpointPath)
        return undefined;
      const nowMs = clock.monotonic();
      if (isIdle(session, nowMs)) {
        lapse(session, "the session was idle for too long");
        return undefined;
      }
      session.lastUseMs = nowMs;
      return session;
    },
    expire,
    touch(session) {
      session.lastUseMs = clock.monotonic();
    },
    end,
    endWhere(gone, reason) {
      for (const session of [...sessions.values()]) if (gone(session)) end(session, reason);
    },
    all: () => sessions.values(),
    get size() {
      return sessions.size;
    },
  };
}
