import { idsPerMs } from "../../record-rows.ts";

/** An id of an earlier life that is further ahead than this comes from a wrong clock, and is not counted on from. */
export const clockToleranceMs = 3_600_000;

/** The lowest id of that moment. */
export function idAt(atMs: number): number {
  return Math.max(0, Math.floor(atMs)) * idsPerMs;
}

/** Several gateways that write to one database make ids of different slots, so that no two are the same. */
export const idSlots = 64;

export interface RecordIds {
  /** Higher than all before. */
  next(): number;
  /** From now on, ids are those of that slot alone, from 0 to `idSlots` - 1. */
  take(slot: number): void;
  /**
   * Those that follow are higher than this one, which was kept by an earlier life; unless that life's clock was
   * wrong.
   */
  follow(id: number): void;
}

/** @param now wall clock, ms; may jump: ids go on from the highest there was until it is reached again */
export function createRecordIds(now: () => number): RecordIds {
  let last = 0;
  let slot: number | undefined;
  return {
    next() {
      last = Math.max(last + 1, idAt(now()));
      if (slot !== undefined) last += (idSlots + slot - (last % idSlots)) % idSlots;
      return last;
    },
    take(given) {
      slot = given;
    },
    follow(id) {
      if (id <= idAt(now() + clockToleranceMs)) last = Math.max(last, id);
    },
  };
}
