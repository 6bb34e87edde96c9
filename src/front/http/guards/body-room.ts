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
