import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createHeldSessions } from "./held-sessions.ts";
import { createSession, type Session, type SessionOptions } from "./session.ts";
import type { SessionlessClients } from "../../../kernel/sessionless-clients.ts";
import type { Connection } from "../../../operations/services.ts";

/** All legacy sessions of the gateway. */
export interface SessionStore {
  /** Ends an earlier one of the same id, which was somebody's that they are not any more. Throws SESSION_LIMIT. */
  create(options: Omit<SessionOptions, "nowMs">): Session;
  /** The principal's session; undefined when it is not there, expired, or somebody else's. */
  find(id: string, principal: Principal, endpointPath: string): Session | undefined;
  /** Of any principal; undefined when it is not held here. */
  held(id: string): Session | undefined;
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

export function createSessionStore(limits: SessionLimits, clock: Clock): SessionStore {
  const sessions = createHeldSessions();

  function end(session: Session, reason: string): void {
    sessions.delete(session);
    session.close(reason);
  }

  function touch(session: Session): void {
    session.lastUseMs = clock.monotonic();
    sessions.see(session, session.lastUseMs);
  }

  function expire(): void {
    const nowMs = clock.monotonic();
    for (let looked = 0; looked < mostLooked; looked += 1) {
      const oldest = sessions.oldest();
      if (oldest === undefined || nowMs - oldest.seenAtMs <= limits.sessionIdleMs) return;
      if (isIdle(oldest.session, nowMs, limits)) lapse(oldest.session, "the session was idle for too long");
      else sessions.see(oldest.session, nowMs);
    }
  }

  /** Ended by us, not by its client, which may come back with a new one. */
  function lapse(session: Session, reason: string): void {
    session.presence.state = "lapsed";
    session.presence.lapsedAtMs = clock.monotonic();
    end(session, reason);
  }

  /** The principal with the most sessions gives up its least recently used one, so that no one can take them all. */
  function makeRoom(wanting: PrincipalId): boolean {
    const holder = sessions.most(wanting);
    const most = Math.min(mostLooked, holder?.count ?? 0);
    for (let looked = 0; looked < most; looked += 1) {
      const oldest = holder?.order.first?.thing;
      if (oldest === undefined) return false;
      if (!isBusy(oldest)) {
        lapse(oldest, "others needed room for a session");
        return true;
      }
      sessions.see(oldest, clock.monotonic());
    }
    return false;
  }

  return {
    create(options) {
      expire();
      if (sessions.size >= limits.sessions && !makeRoom(options.principal.id))
        throw new GatewayError("SESSION_LIMIT", `${sessions.size} sessions are open (limits.sessions)`, {
          hint: `End sessions with DELETE, or raise ${settingNow("limits.sessions", limits.sessions)}.`,
        });
      const before = options.sealed && sessions.get(options.sealed.id);
      if (before !== undefined) end(before, "its credential has changed");
      const session = createSession({ ...options, nowMs: clock.monotonic() });
      sessions.add(session);
      return session;
    },
    find(id, principal, endpointPath) {
      const session = sessions.get(id);
      if (session === undefined || !isOf(session, principal, endpointPath)) return undefined;
      if (isIdle(session, clock.monotonic(), limits)) {
        lapse(session, "the session was idle for too long");
        return undefined;
      }
      touch(session);
      return session;
    },
    held: sessions.get,
    expire,
    touch,
    end,
    endWhere(gone, reason) {
      for (const session of [...sessions.all()]) if (gone(session)) end(session, reason);
    },
    all: sessions.all,
    get size() {
      return sessions.size;
    },
  };
}

/** The name of its client may have given it a profile, which its requests do not name. */
function isOf(session: Session, principal: Principal, endpointPath: string): boolean {
  const isTheirs = session.principal === principal || session.principal.narrowedFrom === principal;
  return isTheirs && session.endpointPath === endpointPath;
}

function isIdle(session: Session, nowMs: number, limits: SessionLimits): boolean {
  return !isBusy(session) && nowMs - session.lastUseMs > limits.sessionIdleMs;
}

function isBusy({ requests, pushes }: Session): boolean {
  return requests.size > 0 || pushes.open;
}

interface Connected {
  readonly sessions: Pick<SessionStore, "all">;
  readonly sessionlessClients: Pick<SessionlessClients, "connected">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** MCP clients with a session, and those that use the gateway without one. */
export function listConnections({ sessions, sessionlessClients, clock }: Connected): readonly Connection[] {
  const nowMs = clock.monotonic();
  return [
    ...[...sessions.all()].map((session) => ({
      client: session.clientName ?? null,
      principal: session.principal.id,
      endpoint: session.endpointPath,
      revision: session.revision,
      idleMs: Math.round(nowMs - session.lastUseMs),
    })),
    ...[...sessionlessClients.connected()].map((name) => ({
      ...{ client: name ?? null, principal: null, endpoint: null, revision: null, idleMs: null },
    })),
  ];
}
