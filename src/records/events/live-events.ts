import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Principal } from "../../kernel/principal.ts";
import { publishedTypes, type PublishedEvent } from "../../kernel/events/published-events.ts";
import { shareOf, type EventShare, type EventToJson } from "./event-json.ts";
import { createEventThrottle, type EventThrottle } from "./event-throttle.ts";

/** Events as they happen, for live readers. */
export interface LiveEvents extends Disposable {
  /**
   * Passes on what the reader may see and wants, first what came after `position`, which an earlier id was. Returns the
   * reader's position now and the function that ends it, without a call of `onEnd`.
   */
  follow(reader: LiveReader, position: string | undefined): { readonly position: string; readonly leave: () => void };
  /** Ends the readers for whose principal the predicate holds. */
  endWhere(gone: (principal: Principal) => boolean): void;
}

export interface LiveReader {
  readonly principal: Principal;
  readonly wants: (event: PublishedEvent) => boolean;
  /** `text` is the event as JSON, and `position` the place behind it. */
  readonly onEvent: (type: string, text: string, position: string) => void;
  /** Whether so much waits for it that it cannot take more of what it missed. */
  readonly isFull: () => boolean;
  /** Events were missed and cannot be replayed: the reader's data may be out of date. */
  readonly onReset: (position: string) => void;
  /** Nothing more will come. */
  readonly onEnd: () => void;
}

export interface LiveEventsOptions {
  readonly events: Pick<EventBus, "on">;
  readonly clock: Clock;
  readonly toJson: EventToJson;
}

/** Until then a reader that was cut off can come back and miss nothing. */
const lingerMs = 5 * 60_000;

/** A thousand texts of this length are 16 MB. Longer ones, which are lists of tools, are written again. */
const longestKept = 16_384;

interface Item {
  readonly event: PublishedEvent;
  textFor(share: EventShare): string;
}

/** One time of watching. Ids of an earlier one, or of an earlier gateway, are unknown in it. */
interface Watch extends Disposable {
  readonly id: string;
  readonly ring: EventRing<Item>;
}

/** A reader without events, for those who only want to know when the right to read ends. */
export const readsNothing: Pick<LiveReader, "wants" | "isFull" | "onEvent" | "onReset"> = Object.freeze({
  wants: () => false,
  isFull: () => false,
  onEvent: () => undefined,
  onReset: () => undefined,
});

/** Without readers nothing is kept, and no event is looked at. */
export function createLiveEvents({ events, clock, toJson }: LiveEventsOptions): LiveEvents {
  const readers = new Set<LiveReader>();
  let watch: Watch | undefined;
  let cancelEnd: (() => void) | undefined;

  function begin(): Watch {
    const begun = openWatch();
    watch = begun;
    return begun;
  }

  function openWatch(): Watch {
    const id = randomBytes(6).toString("hex");
    const ring = createEventRing<Item>(clock);
    const pace: EventThrottle = createEventThrottle({
      clock,
      pass(event, coalesced) {
        const { number, item } = ring.add(toItem(event, coalesced, toJson));
        for (const reader of readers) tell(reader, item, `${id}-${number}`);
      },
      onLost: restart,
    });
    const unsubscribe = events.on(publishedTypes, (event) => pace.take(event));
    return {
      id,
      ring,
      [Symbol.dispose]() {
        unsubscribe();
        pace[Symbol.dispose]();
      },
    };
  }

  function restart(): void {
    end();
    const { id, ring } = begin();
    for (const reader of readers) reader.onReset(`${id}-${ring.last}`);
  }

  function end(): void {
    watch?.[Symbol.dispose]();
    watch = undefined;
  }

  function leave(reader: LiveReader): void {
    if (!readers.delete(reader) || readers.size > 0) return;
    cancelEnd?.();
    cancelEnd = clock.after(lingerMs, end);
  }

  return {
    follow(reader, position) {
      cancelEnd?.();
      cancelEnd = undefined;
      const { id, ring } = watch ?? begin();
      const now = `${id}-${ring.last}`;
      const missed = position === undefined ? [] : missedSince(position, id, ring);
      readers.add(reader);
      let isComplete = missed !== undefined;
      for (const { number, item } of missed ?? []) {
        isComplete = !reader.isFull();
        if (!isComplete) break;
        tell(reader, item, `${id}-${number}`);
      }
      if (!isComplete) reader.onReset(now);
      return { position: now, leave: () => leave(reader) };
    },
    endWhere(gone) {
      for (const reader of readers) {
        if (!gone(reader.principal)) continue;
        leave(reader);
        reader.onEnd();
      }
    },
    [Symbol.dispose]() {
      for (const reader of readers) reader.onEnd();
      readers.clear();
      cancelEnd?.();
      end();
    },
  };
}

function missedSince(position: string, id: string, ring: EventRing<Item>): ReturnType<EventRing<Item>["after"]> {
  const form = /^([0-9a-f]{12})-(\d{1,15})$/.exec(position);
  return form?.[1] === id ? ring.after(Number(form[2])) : undefined;
}

function tell(reader: LiveReader, item: Item, position: string): void {
  const share = shareOf(item.event, reader.principal);
  if (share !== undefined && reader.wants(item.event)) reader.onEvent(item.event.type, item.textFor(share), position);
}

/** Written when somebody sees it, and once for all who see the same. */
function toItem(event: PublishedEvent, coalesced: number, toJson: EventToJson): Item {
  const texts: Partial<Record<EventShare, string>> = {};
  return {
    event,
    textFor(share) {
      const text = texts[share] ?? toJson(event, share, coalesced);
      if (text.length <= longestKept) texts[share] = text;
      return text;
    },
  };
}

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
