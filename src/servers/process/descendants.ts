import { readDescendants, readProcess } from "./process-table.ts";

/**
 * The descendants of a server as they were when last looked at. A process that has left the server's session and has
 * an environment of its own is connected to the server only by ancestry, and no longer when its parent ends. From
 * then on it is known only because it was seen here.
 */
export interface Descendants {
  /** Start times by pid. */
  readonly seen: ReadonlyMap<number, string>;
  /**
   * Looks again; call it only while the founder is alive. Returns all pids, the founder's first; undefined where the
   * kernel keeps no lists of children.
   */
  look(): readonly number[] | undefined;
}

/**
 * `onSessions` is called when the descendants are in other sessions than before; it gets all sessions except the
 * founder's.
 */
export function createDescendants(founder: number, onSessions: (sessions: readonly number[]) => void): Descendants {
  let seen: ReadonlyMap<number, string> = new Map();
  let told = "";
  return {
    get seen() {
      return seen;
    },
    look() {
      if (process.platform !== "linux") return undefined;
      const pids = readDescendants(founder);
      if (pids === undefined) return undefined;
      const next = new Map<number, string>();
      const sessions = new Set<number>();
      for (const pid of new Set([...pids, ...seen.keys()])) {
        const found = pid === founder ? undefined : readProcess(pid);
        if (found === undefined || (!pids.includes(pid) && found.startTime !== seen.get(pid))) continue;
        next.set(pid, found.startTime);
        if (found.session !== founder) sessions.add(found.session);
      }
      seen = next;
      const text = [...sessions].join(" ");
      if (text !== told) onSessions([...sessions]);
      told = text;
      return pids;
    },
  };
}
