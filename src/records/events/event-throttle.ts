import type { Clock } from "../../kernel/runtime/clock.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";

/** Lets through what people can follow, and puts the rest together. */
export interface EventThrottle extends Disposable {
  take(event: PublishedEvent): void;
}

export interface EventThrottleOptions {
  readonly clock: Clock;
  /** `coalesced` is the number of other events that this one summarizes. */
  readonly pass: (event: PublishedEvent, coalesced: number) => void;
  /** Events were lost: more instances and people were busy in one second than can be told apart. */
  readonly onLost: () => void;
}

/** Of each instance, and where a person uses it of each person, so that no person's events are hidden in another's. */
const mostPerSecond = 10;
const windowMs = 1_000;
/** As many as there are events that can be replayed: more than that in one second cannot be read. */
const mostSources = 1_000;

interface Waiting {
  readonly event: PublishedEvent;
  readonly coalesced: number;
}

interface Source {
  passed: number;
  /** The newest event of each type beyond the limit, in the order in which the types came. */
  readonly waiting: Map<PublishedEvent["type"], Waiting>;
}

/**
 * The first ten events of a source in a second pass at once. Of what comes beyond that, the newest of each type waits
 * for the next second and counts the others. A change of status then goes from the first status to the last.
 */
export function createEventThrottle({ clock, pass, onLost }: EventThrottleOptions): EventThrottle {
  let sources = new Map<string, Source>();
  let cancel: (() => void) | undefined;

  function next(): void {
    cancel = undefined;
    const before = sources;
    sources = new Map();
    for (const [key, { waiting }] of before) {
      if (waiting.size === 0) continue;
      const source: Source = { passed: 0, waiting };
      sources.set(key, source);
      for (const [type, { event, coalesced }] of waiting) {
        if (source.passed === mostPerSecond) break;
        waiting.delete(type);
        source.passed += 1;
        pass(event, coalesced);
      }
    }
    if (sources.size > 0) cancel = clock.after(windowMs, next);
  }

  return {
    take(event) {
      const key = sourceOf(event);
      let source = sources.get(key);
      if (source === undefined) {
        if (sources.size >= mostSources) {
          onLost();
          return;
        }
        source = { passed: 0, waiting: new Map() };
        sources.set(key, source);
      }
      cancel ??= clock.after(windowMs, next);
      const before = source.waiting.get(event.type);
      if (before === undefined && source.passed < mostPerSecond) {
        source.passed += 1;
        pass(event, 0);
        return;
      }
      source.waiting.set(event.type, before === undefined ? { event, coalesced: 0 } : join(before, event));
    },
    [Symbol.dispose]() {
      cancel?.();
      cancel = undefined;
      sources = new Map();
    },
  };
}

function sourceOf(event: PublishedEvent): string {
  const instance = "instance" in event ? event.instance : "";
  const principal = "principal" in event ? (event.principal ?? "") : "";
  return `${instance}\n${principal}`;
}

function join({ event: before, coalesced }: Waiting, event: PublishedEvent): Waiting {
  const isStatus = event.type === "mcp.server.status_changed" && before.type === event.type;
  return { event: isStatus ? { ...event, from: before.from } : event, coalesced: coalesced + 1 };
}
