import type { EventOf, GatewayEvent } from "./event.ts";

/**
 * Passes every event to its sinks synchronously, in order of subscription. Sinks must neither throw nor wait; if one
 * throws, the error is reported and the others still get the event.
 */
export interface EventBus {
  emit(event: GatewayEvent): void;
  /** Subscribes a sink to every event. Returns the function that unsubscribes it. */
  subscribe(sink: EventSink): () => void;
  /**
   * Subscribes a sink to events of these types only, so that frequent events do not reach sinks that would ignore
   * them. Returns the function that unsubscribes it.
   */
  on<T extends GatewayEvent["type"]>(types: readonly T[], sink: (event: EventOf<T>) => void): () => void;
}

/** Receives events; must neither throw nor wait. */
export type EventSink = (event: GatewayEvent) => void;

interface Subscriber {
  /** Undefined: every type. */
  readonly types: readonly GatewayEvent["type"][] | undefined;
  readonly sink: EventSink;
}

/** An event bus without sinks. `onSinkFailure` gets whatever a sink throws. */
export function createEventBus(onSinkFailure: (error: unknown) => void): EventBus {
  let subscribers: readonly Subscriber[] = [];
  /** The sinks of each type, computed when first needed; cleared whenever a sink is added or removed. */
  const sinksOf = new Map<GatewayEvent["type"], readonly EventSink[]>();

  function wanting(type: GatewayEvent["type"]): readonly EventSink[] {
    let sinks = sinksOf.get(type);
    if (sinks === undefined) {
      sinks = subscribers.filter(({ types }) => types?.includes(type) !== false).map(({ sink }) => sink);
      sinksOf.set(type, sinks);
    }
    return sinks;
  }

  function add(subscriber: Subscriber): () => void {
    subscribers = [...subscribers, subscriber];
    sinksOf.clear();
    return () => {
      subscribers = subscribers.filter((other) => other !== subscriber);
      sinksOf.clear();
    };
  }

  return {
    emit(event) {
      for (const sink of wanting(event.type)) {
        try {
          sink(event);
        } catch (error) {
          onSinkFailure(error);
        }
      }
    },
    subscribe: (sink) => add({ types: undefined, sink }),
    on: (types, sink) => add({ types, sink: sink as EventSink }),
  };
}
