import type { EventOf } from "../../kernel/events/event.ts";

type Call = Pick<EventOf<"mcp.request.logs">, "atMs" | "principal" | "team" | "outcome">;

/** What was called in one minute. */
export interface CallMinute {
  /** Wall clock: when the minute begins. */
  readonly atMs: number;
  readonly calls: number;
  readonly errors: number;
}

/** Whose calls are counted; everybody's without either. */
export interface MinutesAsk {
  readonly principal?: string | undefined;
  readonly team?: string | undefined;
}

/** Calls of the last hour by the minute, in memory: what somebody looks at while it happens. */
export interface CallMinutes {
  add(call: Call): void;
  /** Sixty of them, oldest first, up to the minute of now. */
  read(ask: MinutesAsk, nowMs: number): readonly CallMinute[];
}

export const minuteMs = 60_000;
/** As many as are kept. */
export const keptMinutes = 60;
/** People who are told apart within one minute, so that an hour takes 6 MB at most; the others' calls are no one's. */
const mostPeople = 1_000;

interface Counts {
  readonly team: string | null;
  calls: number;
  errors: number;
}

interface Slot {
  minute: number;
  /** Of everybody, those who are not told apart included. */
  readonly all: Omit<Counts, "team">;
  readonly people: Map<string, Counts>;
}

/** A call costs a lookup and two additions: minutes are slots of a ring, and each is emptied when it comes again. */
export function createCallMinutes(): CallMinutes {
  const ring = Array.from({ length: keptMinutes }, (): Slot => ({
    ...{ minute: -1, all: { calls: 0, errors: 0 }, people: new Map<string, Counts>() },
  }));

  /** Undefined for a call of an hour ago, which a clock that was put back makes. */
  function slotOf(minute: number): Slot | undefined {
    const slot = ring[minute % keptMinutes] as Slot;
    if (slot.minute > minute) return undefined;
    if (slot.minute < minute) {
      slot.minute = minute;
      slot.all.calls = 0;
      slot.all.errors = 0;
      slot.people.clear();
    }
    return slot;
  }

  return {
    add({ atMs, principal, team, outcome }) {
      const slot = slotOf(Math.floor(atMs / minuteMs));
      if (slot === undefined) return;
      let own = slot.people.get(principal);
      if (own === undefined && slot.people.size < mostPeople)
        slot.people.set(principal, (own = { team, calls: 0, errors: 0 }));
      count(slot.all, outcome);
      if (own !== undefined) count(own, outcome);
    },
    read(ask, nowMs) {
      const last = Math.floor(nowMs / minuteMs);
      return Array.from({ length: keptMinutes }, (_, at) => {
        const minute = last - keptMinutes + 1 + at;
        const slot = ring[minute % keptMinutes];
        const atMs = minute * minuteMs;
        return slot?.minute === minute ? { atMs, ...sumOf(slot, ask) } : { atMs, calls: 0, errors: 0 };
      });
    },
  };
}

function count(counts: Omit<Counts, "team">, outcome: Call["outcome"]): void {
  counts.calls += 1;
  if (outcome !== "ok") counts.errors += 1;
}

function sumOf({ all, people }: Slot, { principal, team }: MinutesAsk): Pick<CallMinute, "calls" | "errors"> {
  if (principal === undefined && team === undefined) return { calls: all.calls, errors: all.errors };
  const sum = { calls: 0, errors: 0 };
  for (const [id, counts] of people) {
    if (principal !== undefined && id !== principal) continue;
    if (team !== undefined && counts.team !== team) continue;
    sum.calls += counts.calls;
    sum.errors += counts.errors;
  }
  return sum;
}
