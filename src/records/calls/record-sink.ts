import type { RecordKind, RecordRows, RecordStore } from "../../store/record-store.ts";

/** A row that still needs its id, which a store gives. */
type Unnumbered<Row> = Row extends { readonly id: number } ? Omit<Row, "id"> : Row;

/**
 * Where rows go. The store behind it is loaded after the gateway answers, so that the first rows wait here for it.
 */
export interface RecordSink {
  /** Takes the row over. Returns at once and never throws; what cannot be kept is counted. */
  append<Kind extends RecordKind>(kind: Kind, row: Unnumbered<RecordRows[Kind]>): void;
  /** From now on rows go to this store, those that waited first. */
  open(store: RecordStore): void;
  /** From now on rows are dropped: there will be no store. */
  close(): void;
  /** Rows that were dropped here; the store counts its own. */
  readonly dropped: number;
}

/** Rows that wait for the store: what happens in a start with many servers. */
const mostWaiting = 2_000;

/** A sink without a store yet. `onLost` is told of each row that the store, once there is one, did not take. */
export function createRecordSink(onLost?: () => void): RecordSink {
  let store: RecordStore | undefined;
  let waiting: (() => void)[] | undefined = [];
  let dropped = 0;

  function hand<Kind extends RecordKind>(to: RecordStore, kind: Kind, row: Unnumbered<RecordRows[Kind]>): void {
    // Added to the row itself, which is its caller's no longer: a copy would be garbage of every call.
    if (kind === "request" || kind === "log" || kind === "event") (row as { id?: number }).id = to.nextId();
    if (!to.append(kind, row as RecordRows[Kind])) onLost?.();
  }

  return {
    append(kind, row) {
      if (store !== undefined) hand(store, kind, row);
      else if (waiting === undefined || waiting.length >= mostWaiting) dropped += 1;
      else waiting.push(() => store !== undefined && hand(store, kind, row));
    },
    open(opened) {
      store = opened;
      for (const run of waiting ?? []) run();
      waiting = undefined;
    },
    close() {
      dropped += waiting?.length ?? 0;
      waiting = undefined;
      store = undefined;
    },
    get dropped() {
      return dropped;
    },
  };
}
