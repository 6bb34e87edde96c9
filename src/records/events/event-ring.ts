import type { Clock } from "../../kernel/runtime/clock.ts";

/** The newest events by number, for readers that come back. */
export interface EventRing<Item> {
  /** Keeps an item under the next number. */
  add(item: Item): { readonly number: number; readonly item: Item };
  /** The number of the newest item; 0 before the first. */
  readonly last: number;
  /** What came after a number, oldest first. Undefined when some of it is not kept any more, or never was. */
  after(number: number): readonly { readonly number: number; readonly item: Item }[] | undefined;
}

/** What a page that was asleep for a few minutes has missed. */
const mostKept = 1_000;
const keptMs = 5 * 60_000;

/** Empty at first. */
export function createEventRing<Item>(clock: Pick<Clock, "monotonic">): EventRing<Item> {
  let kept: { readonly number: number; readonly item: Item; readonly atMs: number }[] = [];
  let last = 0;

  function forgetOld(): void {
    const oldestMs = clock.monotonic() - keptMs;
    let gone = Math.max(0, kept.length - mostKept);
    while (gone < kept.length && (kept[gone]?.atMs ?? 0) < oldestMs) gone += 1;
    if (gone > 0) kept = kept.slice(gone);
  }

  return {
    add(item) {
      last += 1;
      const entry = { number: last, item, atMs: clock.monotonic() };
      kept.push(entry);
      // Not at every event: a thousand of them are moved each time.
      if (kept.length > mostKept + slack) forgetOld();
      return entry;
    },
    get last() {
      return last;
    },
    after(number) {
      forgetOld();
      const first = kept[0]?.number ?? last + 1;
      if (number > last || number < first - 1) return undefined;
      return kept.slice(number - first + 1);
    },
  };
}

const slack = 200;
