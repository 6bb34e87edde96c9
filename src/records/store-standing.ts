import { GatewayError } from "../kernel/failures/gateway-error.ts";
import type { RecordStore, StoreHealth, StoreProblem } from "../store/record-store.ts";

/** The state of the store of records, where there may be none. */
export interface StoreSource {
  /** Whether anything is to be recorded at all. */
  readonly isOn: boolean;
  /** Undefined until it is loaded, where it cannot be, and where nothing is recorded. */
  store(): RecordStore | undefined;
  problems(): readonly StoreProblem[];
  /** Rows that were dropped before there was a store. */
  readonly dropped: number;
}

/** Whether the records can be used, for people and programs. */
export interface StoreStanding {
  /** `off` by configuration; `failed` where it cannot be loaded; the others as in `StoreHealth`. */
  readonly status: StoreHealth["status"] | "off" | "failed";
  readonly problems: readonly StoreProblem[];
  /** Rows that wait to be written. */
  readonly waitingRows: number;
  /** Rows that were lost since the start of the gateway. */
  readonly droppedRows: number;
}

export function readStoreStanding(source: StoreSource): StoreStanding {
  const problems = source.problems();
  const store = source.store();
  if (store === undefined) {
    const status = !source.isOn ? "off" : problems.length > 0 ? "failed" : "opening";
    return { status, problems, waitingRows: 0, droppedRows: source.dropped };
  }
  const { queuedRows, sentRows, droppedRows } = store.figures();
  const dropped = Object.values(droppedRows).reduce((sum, rows) => sum + rows, source.dropped);
  return { status: store.health().status, problems, waitingRows: queuedRows + sentRows, droppedRows: dropped };
}

/** Throws STORE_UNAVAILABLE, which says whether there never will be a store, is none yet, or its problem. */
export function requireStore(source: StoreSource): RecordStore {
  const store = source.store();
  if (store !== undefined) return store;
  if (!source.isOn)
    throw new GatewayError("STORE_UNAVAILABLE", "nothing is recorded, because records.store is off", {
      hint: 'Set toolyard.records.store to "sqlite" in the configuration, and restart the gateway.',
    });
  const [problem] = source.problems();
  if (problem !== undefined) throw new GatewayError("STORE_UNAVAILABLE", problem.message, { hint: problem.hint });
  throw new GatewayError("STORE_UNAVAILABLE", "the store of records is being opened", {
    hint: "Ask again in a moment.",
  });
}

/**
 * Why a load balancer should look for another gateway: a database that does not come back by itself. A full disk, a
 * thread that is being started again and a server that is away pass, and calls are served meanwhile: all gateways of
 * one database would be out of service at once.
 */
export function unusableStore(problems: readonly StoreProblem[]): string | undefined {
  return toReason(problems.filter(({ kind }) => !passing.has(kind)));
}

const passing: ReadonlySet<StoreProblem["kind"]> = new Set(["full", "worker", "away"]);

/** The first problem and its remedy; undefined where there is none. */
export function toReason([problem]: readonly StoreProblem[]): string | undefined {
  return problem === undefined ? undefined : `${problem.message}. ${problem.hint}`;
}
