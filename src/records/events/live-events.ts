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
  /**
   * Passes on what happens at this node, for readers of other nodes, who decide there what each of them may see. Calls
   * `onLost` where some of it is not told. Returns what ends it.
   */
  relay(onEvent: (event: SharedEvent) => void, onLost: () => void): () => void;
  /** Ends the readers for whose principal the predicate holds. */
  endWhere(gone: (principal: Principal) => boolean): void;
}

/** An event, and its text for each share of it. */
export interface SharedEvent {
  /** Of one that happened at another node, what decides who may see it. */
  readonly event: PublishedEvent;
  textFor(share: EventShare): string;
}

/** What happens at other nodes. Returns what ends it. */
export type FollowElsewhere = (onEvent: (event: SharedEvent) => void, onLost: () => void) => () => void;

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
  /** Followed while somebody reads; undefined in a gateway that is alone. */
  readonly elsewhere?: FollowElsewhere | undefined;
}

/** Until then a reader that was cut off can come back and miss nothing. */
const lingerMs = 5 * 60_000;
/** Where other nodes tell what happens there only to be kept: one that was cut off comes back within two seconds. */
const lingerElsewhereMs = 5_000;

/** A thousand texts of this length are 16 MB. Longer ones, which are lists of tools, are written again. */
const longestKept = 16_384;

/** One time of watching. Ids of an earlier one, or of an earlier gateway, are unknown in it. */
interface Watch extends Disposable {
  id: string;
  ring: EventRing<SharedEvent>;
}

/** A reader without events, for those who only want to know when the right to read ends. */
export const readsNothing: Pick<LiveReader, "wants" | "isFull" | "onEvent" | "onReset"> = Object.freeze({
  wants: () => false,
  isFull: () => false,
  onEvent: () => undefined,
  onReset: () => undefined,
});

/** Without readers nothing is kept, and no event is looked at. */
export function createLiveEvents(options: LiveEventsOptions): LiveEvents {
  const { clock, elsewhere } = options;
  const readers = new Set<LiveReader>();
  const relays = new Set<Relay>();
  let leaveElsewhere: (() => void) | undefined;
  let cancelEnd: (() => void) | undefined;
  const watching = createWatching(options, {
    onItem(item) {
      put(item);
      for (const { onEvent } of relays) onEvent(item);
    },
    onLost() {
      watching.end();
      watching.begin();
      tellReset();
      for (const { onLost } of relays) onLost();
    },
  });

  /** Kept for readers that come back, and told to those that are here. */
  function put(event: SharedEvent): void {
    const { current } = watching;
    if (current === undefined) return;
    const { number, item } = current.ring.add(event);
    for (const reader of readers) tell(reader, item, `${current.id}-${number}`);
  }

  function tellReset(): void {
    const { current } = watching;
    if (current !== undefined) for (const reader of readers) reader.onReset(positionIn(current));
  }

  /** Positions are good no longer: what happens elsewhere is not kept any more. */
  function rest(): void {
    leaveElsewhere?.();
    leaveElsewhere = undefined;
    watching.end();
    if (relays.size + readers.size > 0) watching.begin();
  }

  function linger(): void {
    if (isRead(readers)) return;
    cancelEnd?.();
    cancelEnd = clock.after(leaveElsewhere === undefined ? lingerMs : lingerElsewhereMs, rest);
  }

  function stay(): void {
    if (!isRead(readers)) return;
    cancelEnd?.();
    cancelEnd = undefined;
    leaveElsewhere ??= elsewhere?.(put, () => {
      watching.forget();
      tellReset();
    });
  }

  const leave = (reader: LiveReader): void => void (readers.delete(reader) && linger());

  return {
    follow(reader, position) {
      const watch = watching.current ?? watching.begin();
      const now = positionIn(watch);
      readers.add(reader);
      stay();
      if (position !== undefined) catchUp(reader, watch, position);
      return { position: now, leave: () => leave(reader) };
    },
    relay(onEvent, onLost) {
      if (watching.current === undefined) watching.begin();
      const relay: Relay = { onEvent, onLost };
      relays.add(relay);
      return () => void (relays.delete(relay) && linger());
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
      relays.clear();
      cancelEnd?.();
      rest();
    },
  };
}

interface Relay {
  readonly onEvent: (event: SharedEvent) => void;
  readonly onLost: () => void;
}

/** A reader that wants none of the events only waits for its end. */
function isRead(readers: ReadonlySet<LiveReader>): boolean {
  return [...readers].some(({ wants }) => wants !== readsNothing.wants);
}

/** Follows the events of this gateway from `begin` to `end`. */
function createWatching(
  { events, clock, toJson }: LiveEventsOptions,
  { onItem, onLost }: { readonly onItem: (item: SharedEvent) => void; readonly onLost: () => void },
) {
  let current: Watch | undefined;
  return {
    get current() {
      return current;
    },
    begin(): Watch {
      const pace: EventThrottle = createEventThrottle({
        ...{ clock, onLost },
        pass: (event, coalesced) => onItem(toItem(event, coalesced, toJson)),
      });
      const unsubscribe = events.on(publishedTypes, (event) => pace.take(event));
      current = {
        ...emptyWatch(clock),
        [Symbol.dispose]() {
          unsubscribe();
          pace[Symbol.dispose]();
        },
      };
      return current;
    },
    end(): void {
      current?.[Symbol.dispose]();
      current = undefined;
    },
    /** What was kept is not whole. */
    forget(): void {
      if (current !== undefined) Object.assign(current, emptyWatch(clock));
    },
  };
}

function emptyWatch(clock: Clock): Pick<Watch, "id" | "ring"> {
  return { id: randomBytes(6).toString("hex"), ring: createEventRing(clock) };
}

function positionIn({ id, ring }: Watch): string {
  return `${id}-${ring.last}`;
}

/** Tells a reader what came after a position, or that some of it is missing. */
function catchUp(reader: LiveReader, watch: Watch, position: string): void {
  const missed = missedSince(position, watch);
  let isComplete = missed !== undefined;
  for (const { number, item } of missed ?? []) {
    isComplete = !reader.isFull();
    if (!isComplete) break;
    tell(reader, item, `${watch.id}-${number}`);
  }
  if (!isComplete) reader.onReset(positionIn(watch));
}

function missedSince(position: string, { id, ring }: Watch): ReturnType<EventRing<SharedEvent>["after"]> {
  const form = /^([0-9a-f]{12})-(\d{1,15})$/.exec(position);
  return form?.[1] === id ? ring.after(Number(form[2])) : undefined;
}

function tell(reader: LiveReader, item: SharedEvent, position: string): void {
  const share = shareOf(item.event, reader.principal);
  if (share !== undefined && reader.wants(item.event)) reader.onEvent(item.event.type, item.textFor(share), position);
}

/** Written when somebody sees it, and once for all who see the same. */
function toItem(event: PublishedEvent, coalesced: number, toJson: EventToJson): SharedEvent {
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
