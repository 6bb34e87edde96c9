/**
 * Room for bodies that are on their way: each is held in memory until its end comes, and a client may keep many open.
 * Bodies that come in one piece are not counted.
 */
export interface BodyRoom {
  /** Takes room for more bytes of somebody's bodies. False when there is none: then nothing is taken. */
  take(who: string, bytes: number): boolean;
  /** Gives back what was taken. */
  give(who: string, bytes: number): void;
}

const MiB = 1024 * 1024;
/** What one person may have on the way, and all together; at least two and four of the largest bodies. */
const ofOne = 32 * MiB;
const ofAll = 96 * MiB;

/** `largestBytes` is what one body may have. */
export function createBodyRoom(largestBytes: number): BodyRoom {
  const mostOfOne = Math.max(ofOne, 2 * largestBytes);
  const mostOfAll = Math.max(ofAll, 4 * largestBytes);
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(who, bytes) {
      const own = (held.get(who) ?? 0) + bytes;
      if (own > mostOfOne || total + bytes > mostOfAll) return false;
      held.set(who, own);
      total += bytes;
      return true;
    },
    give(who, bytes) {
      const own = (held.get(who) ?? 0) - bytes;
      if (own > 0) held.set(who, own);
      else held.delete(who);
      total -= bytes;
    },
  };
}

/** How many connections there may be, in all and of one address. */
export interface ConnectionRoom {
  /** Takes a place. Undefined when there is none; otherwise what gives it back, which may be called once. */
  take(address: string): (() => void) | undefined;
}

export interface ConnectionRoomOptions {
  readonly ofAll: number;
  readonly ofOne: number;
  /** Whether an address is shared by many people: a proxy, or this machine. */
  readonly isShared: (address: string) => boolean;
}

/** A connection without a request takes some 10 KB, and a descriptor, of which a process has few. */
export function createConnectionRoom({ ofAll, ofOne, isShared }: ConnectionRoomOptions): ConnectionRoom {
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(address) {
      const own = held.get(address) ?? 0;
      if (total >= ofAll || (own >= ofOne && !isShared(address))) return undefined;
      held.set(address, own + 1);
      total += 1;
      return () => {
        total -= 1;
        const left = (held.get(address) ?? 1) - 1;
        if (left === 0) held.delete(address);
        else held.set(address, left);
      };
    },
  };
}
