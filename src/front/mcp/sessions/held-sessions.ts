import type { PrincipalId } from "../../../kernel/ids.ts";
import type { Session } from "./session.ts";

/** Things in the order of their last use, so that the one that was not used for longest is found without a walk. */
interface UseOrder<T> {
  /** At the end, as the one that was used last. */
  add(thing: T): Place<T>;
  /** It was used: it goes to the end. */
  use(place: Place<T>): void;
  delete(place: Place<T>): void;
  /** The one that was not used for longest. */
  readonly first: Place<T> | undefined;
}

/** Where a thing is in the order. A linked list: a Map would be filled and emptied with each use. */
class Place<T> {
  before: Place<T> | undefined;
  after: Place<T> | undefined;
  readonly thing: T;

  constructor(thing: T) {
    this.thing = thing;
  }
}

/** Empty at first. */
function createUseOrder<T>(): UseOrder<T> {
  let first: Place<T> | undefined;
  let last: Place<T> | undefined;

  function append(place: Place<T>): void {
    place.before = last;
    place.after = undefined;
    if (last === undefined) first = place;
    else last.after = place;
    last = place;
  }

  function remove({ before, after }: Place<T>): void {
    if (before === undefined) first = after;
    else before.after = after;
    if (after === undefined) last = before;
    else after.before = before;
  }

  return {
    add(thing) {
      const place = new Place(thing);
      append(place);
      return place;
    },
    use(place) {
      if (place === last) return;
      remove(place);
      append(place);
    },
    delete: remove,
    get first() {
      return first;
    },
  };
}

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
    delete(session) {
      const held = sessions.get(session.id);
      // Another one may have its id by now, which was made again for a client that has lost something.
      if (held?.session !== session) return;
      sessions.delete(session.id);
      order.delete(held.ofAll);
      held.own.order.delete(held.ofOwn);
      owners.release(session.principal.id);
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

/** The sessions of one principal, those first that were not used for longest. */
interface OwnedSessions {
  readonly order: UseOrder<Session>;
  readonly count: number;
}

/** How many sessions each principal has, counted as they come and go. */
interface SessionOwners {
  /** Counts one more. */
  take(principal: PrincipalId): OwnedSessions;
  /** Counts one less. */
  release(principal: PrincipalId): void;
  /** Of whom has the most; undefined where that is this principal. */
  most(besides: PrincipalId): OwnedSessions | undefined;
}

function createSessionOwners(): SessionOwners {
  const owners = new Map<PrincipalId, { readonly order: UseOrder<Session>; count: number }>();
  /** Who has one session, who has two, and so on. Counts change by one, so that the highest is known. */
  const byCount: Set<PrincipalId>[] = [new Set()];

  function move(principal: PrincipalId, from: number, to: number): void {
    byCount[from]?.delete(principal);
    (byCount[to] ??= new Set()).add(principal);
    while (byCount.length > 1 && byCount.at(-1)?.size === 0) byCount.pop();
  }

  return {
    take(principal) {
      const owner = owners.get(principal) ?? { order: createUseOrder<Session>(), count: 0 };
      owners.set(principal, owner);
      owner.count += 1;
      move(principal, owner.count - 1, owner.count);
      return owner;
    },
    release(principal) {
      const owner = owners.get(principal);
      if (owner === undefined) return;
      owner.count -= 1;
      move(principal, owner.count + 1, owner.count);
      if (owner.count > 0) return;
      owners.delete(principal);
      byCount[0]?.delete(principal);
    },
    most(besides) {
      const holders = byCount.at(-1) as ReadonlySet<PrincipalId>;
      const [holder] = holders;
      return holder === undefined || holders.has(besides) ? undefined : owners.get(holder);
    },
  };
}
