import { onLiveEvent } from "./live.ts";

/** A search of a model, as the live stream tells it. */
export interface SeenSearch {
  readonly time: string;
  readonly principal: string | null;
  readonly data: {
    readonly client?: string;
    /** Path of the tool that came first. */
    readonly first?: string;
    readonly results: number;
    readonly duration_ms: number;
  };
}

const most = 100;

let seen: readonly SeenSearch[] = [];
const listeners = new Set<() => void>();

export const searchStore = {
  get: (): readonly SeenSearch[] => seen,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Keeps those that come while the page is open, the newest first. */
export function followSearches(): void {
  onLiveEvent(({ type, data }) => {
    if (type !== "search.done") return;
    seen = [JSON.parse(data) as SeenSearch, ...seen].slice(0, most);
    for (const listener of listeners) listener();
  });
}
