import { toldKinds, type ToldKind } from "../tables.ts";
import type { FeedNews } from "./change-feed.ts";

/** In the thread that serves: who wants to know what other gateways of the same database changed. */
export interface ChangeListeners {
  /**
   * The last change of which everything of that kind is known here; undefined where this gateway is the only writer. A
   * change that has to be read again is known when it was read, not when that was told: a change that is planned in
   * between is planned without it. Less than 0 where changes were lost and nothing was read since.
   */
  seen(kind: ToldKind): number | undefined;
  /** Whether something of that kind was changed of which it is not known here what it is: it has to be read. */
  owes(kind: ToldKind): boolean;
  /** Something was read or written that has every change of that kind up to this one. */
  saw(kind: ToldKind, seq: number | undefined): void;
  /** This gateway wrote a change without knowing what others wrote before it. */
  wrote(kind: ToldKind, seq: number | undefined): void;
  /** The last change that all kinds know of; undefined where nothing was told or read yet. */
  readonly first: number | undefined;
  /** Rows that are read now and do not have this change are older than those that are known here. */
  least(kind: ToldKind): number;
  tell(news: FeedNews): void;
  /** Called with what was written, as JSON, and with undefined where it has to be read again. */
  listen(kind: ToldKind, listener: (detail: string | undefined) => void): () => void;
  /** Called when the database has lost changes: see {@link FeedNews.hasLost}. */
  onLoss(listener: () => void): () => void;
}

/** Rows that are known here may never have been: see {@link FeedNews.hasLost}. */
const unsure = -1;

/** @param own what this gateway calls itself: what it changed it knows */
export function createChangeListeners(own: string): ChangeListeners {
  const listeners = new Map<string, Set<Listener>>(toldKinds.map((kind) => [kind, new Set()]));
  const last = new Map<ToldKind, number>();
  const written = new Map<ToldKind, number>();
  /** The last change that was told of, also where it is not known here before everything was read again. */
  const heard = new Map<ToldKind, number>();
  /** Of the changes that have to be read again, the last: until it was read, nothing after `last` is known here. */
  const owed = new Map<ToldKind, number>();
  const lossListeners = new Set<() => void>();

  function saw(kind: ToldKind, seq: number | undefined): void {
    if (seq === undefined) return;
    last.set(kind, Math.max(last.get(kind) ?? 0, seq));
    if (seq >= (owed.get(kind) ?? 0)) owed.delete(kind);
  }

  return {
    seen: (kind) => last.get(kind),
    owes: (kind) => owed.has(kind),
    saw,
    get first() {
      return last.size === 0 ? undefined : Math.min(...last.values());
    },
    wrote(kind, seq) {
      if (seq !== undefined) written.set(kind, seq);
    },
    least: (kind) => Math.max(...[last, written, heard].map((known) => known.get(kind) ?? 0)),
    tell({ seq, changes, hasLost = false }) {
      if (hasLost) {
        written.clear();
        for (const kind of toldKinds) last.set(kind, unsure);
        for (const listener of lossListeners) listener();
      }
      for (const kind of toldKinds) {
        const before = last.get(kind) ?? 0;
        heard.set(kind, seq);
        const told = changes?.filter((one) => one.seq > before && one.origin !== own);
        // A newer version may change in its own way anything that is known here.
        const isClear = told?.every((one) => listeners.has(one.kind)) === true;
        const mine = isClear ? told.filter((one) => one.kind === kind) : [{ detail: "" }];
        const details = mine.map(({ detail }) => (detail === "" ? undefined : detail));
        if (details.includes(undefined)) owed.set(kind, seq);
        for (const detail of details) for (const listener of listeners.get(kind) ?? []) listener(detail);
        if (!owed.has(kind)) saw(kind, seq);
      }
    },
    listen(kind, listener) {
      listeners.get(kind)?.add(listener);
      return () => listeners.get(kind)?.delete(listener);
    },
    onLoss(listener) {
      lossListeners.add(listener);
      return () => lossListeners.delete(listener);
    },
  };
}

/**
 * What `ask` reads whole, asked again until it has every change that is known here: what was told or written while it
 * was being read would be undone by rows that do not have it.
 */
export async function readAnew<Answer extends { readonly seq?: number }>(
  changes: Pick<ChangeListeners, "least" | "saw">,
  kind: ToldKind,
  ask: () => Promise<Answer>,
): Promise<Omit<Answer, "seq">> {
  for (;;) {
    const { seq, ...rows } = await ask();
    if (seq !== undefined && seq < changes.least(kind)) continue;
    changes.saw(kind, seq);
    return rows;
  }
}

type Listener = (detail: string | undefined) => void;
