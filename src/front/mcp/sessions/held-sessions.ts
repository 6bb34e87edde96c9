import type { PrincipalId } from "../../../kernel/ids.ts";
import { createSessionOwners, type OwnedSessions } from "./session-owners.ts";
import type { Session } from "./session.ts";
import { createUseOrder, type Place } from "./use-order.ts";

/** All sessions by their ids, and those that were not seen in use for longest, of all and of each principal. */
export interface HeldSessions {
  get(id: string): Session | undefined;
  all(): Iterable<Session>;
  readonly size: number;
  add(session: Session): void;
  delete(session: Session): void;
  /** It was used, or found in use: it goes behind all others. */
  see(session: Session, nowMs: number): void;
  /** The one that was not seen for longest, and when it was seen. */
  oldest(): { readonly session: Session; readonly seenAtMs: number } | undefined;
  /** The sessions of the principal that has most; undefined where that is this one. */
  most(besides: PrincipalId): OwnedSessions | undefined;
}

/** A session, and its places among all of them and among those of its principal. */
interface Held {
  readonly session: Session;
  readonly own: OwnedSessions;
  readonly ofAll: Place<Session>;
  readonly ofOwn: Place<Session>;
  seenAtMs: number;
}

/** Empty at first. Nothing in it takes longer with more sessions. */
export function createHeldSessions(): HeldSessions {
  const sessions = new Map<string, Held>();
  const order = createUseOrder<Session>();
  const owners = createSessionOwners();
  return {
    get: (id) => sessions.get(id)?.session,
    *all() {
      for (const { session } of sessions.values()) yield session;
    },
    get size() {
      return sessions.size;
    },
    add(session) {
      const own = owners.take(session.principal.id);
      const places = { ofAll: order.add(session), ofOwn: own.order.add(session) };
      sessions.set(session.id, { session, own, ...places, seenAtMs: session.lastUseMs });
    },
    delete({ id, principal }) {
      const held = sessions.get(id);
      if (held === undefined) return;
      sessions.delete(id);
      order.delete(held.ofAll);
      held.own.order.delete(held.ofOwn);
      owners.release(principal.id);
    },
    see({ id }, nowMs) {
      const held = sessions.get(id);
      if (held === undefined) return;
      held.seenAtMs = nowMs;
      order.use(held.ofAll);
      held.own.order.use(held.ofOwn);
    },
    oldest: () => order.first && sessions.get(order.first.thing.id),
    most: owners.most,
  };
}
