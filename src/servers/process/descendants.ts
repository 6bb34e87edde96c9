import { readDescendants, readProcess } from "./process-table.ts";

/**
 * The descendants of a server as they were when last looked at. Who left its session with an environment of its own
 * is tied to it by ancestry alone, and no longer when a parent ends: then it is known from here.
 */
export interface Descendants {
  /** By pid, with their start times. */
  readonly seen: ReadonlyMap<number, string>;
  /**
   * Looks again; the founder is to be alive. Resolves to all pids, the founder's first; undefined where the kernel
   * keeps no lists of children.
   */
  look(): readonly number[] | undefined;
}

/** `onSessions` is told which sessions other than the founder's they are in, when that changes. */
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
