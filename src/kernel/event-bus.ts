import type { EventOf, GatewayEvent } from "./event.ts";

/**
 * Hands every event to the sinks that want it, in order, at once. A sink must not throw and must not wait; one that
 * throws is reported.
 */
export interface EventBus {
  emit(event: GatewayEvent): void;
  /** A sink for every event. Returns the function that takes it off again. */
  subscribe(sink: EventSink): () => void;
  /** A sink for events of these types: a call's event passes by those that have no use for it. */
  on<T extends GatewayEvent["type"]>(types: readonly T[], sink: (event: EventOf<T>) => void): () => void;
}

export type EventSink = (event: GatewayEvent) => void;

interface Subscriber {
  /** Undefined for all. */
  readonly types: readonly GatewayEvent["type"][] | undefined;
  readonly sink: EventSink;
}

export function createEventBus(onSinkFailure: (error: unknown) => void): EventBus {
  let subscribers: readonly Subscriber[] = [];
  /** By type; made anew when somebody comes or goes. */
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
