/** What a change did, shown for a while, with the way back where there is one. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  /** Takes the change back. Rejects with the reason why it cannot. */
  readonly undo?: (() => Promise<void>) | undefined;
}

/** Older ones make room. */
const mostNotices = 3;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

export const noticeStore = {
  get: (): readonly Notice[] => notices,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export function notify(notice: Omit<Notice, "id">): void {
  set([...notices, { ...notice, id: (lastId += 1) }].slice(-mostNotices));
}

export function dismiss(seen: number): void {
  set(notices.filter(({ id }) => id !== seen));
}
