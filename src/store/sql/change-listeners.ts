import type { PeopleWrites } from "../people-rows.ts";
import type { FeedNews } from "./change-feed.ts";

/** In the thread that serves: who wants to know what other gateways of the same database changed. */
export interface ChangeListeners {
  /** The last change that was told here; undefined where nobody else writes. */
  readonly seen: number | undefined;
  /** Something was read that has every change up to this one. */
  saw(seq: number | undefined): void;
  tell(news: FeedNews): void;
  listen(listener: (writes: PeopleWrites | undefined) => void): () => void;
}

const ofPeople = "changePeople";

export function createChangeListeners(own: string): ChangeListeners {
  const listeners = new Set<(writes: PeopleWrites | undefined) => void>();
  let seen: number | undefined;

  function tellAll(writes: PeopleWrites | undefined): void {
    for (const listener of listeners) listener(writes);
  }

  return {
    get seen() {
      return seen;
    },
    saw(seq) {
      if (seq !== undefined) seen = Math.max(seen ?? 0, seq);
    },
    tell({ seq, changes }) {
      const before = seen ?? 0;
      if (changes === undefined) tellAll(undefined);
      for (const { origin, kind, detail, ...change } of changes ?? [])
        if (change.seq > before && origin !== own && kind === ofPeople)
          tellAll(detail === "" ? undefined : (JSON.parse(detail) as PeopleWrites));
      seen = Math.max(before, seq);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
