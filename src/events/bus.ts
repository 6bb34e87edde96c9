import type { GatewayEvent } from "./event.ts";

/** Hands every event to every sink, in order, at once. A sink must not throw and must not wait; one that throws is reported once. */
export interface EventBus {
  emit(event: GatewayEvent): void;
  /** Returns the function that takes the sink off again. */
  subscribe(sink: EventSink): () => void;
}

export type EventSink = (event: GatewayEvent) => void;

export function createEventBus(onSinkFailure: (error: unknown) => void): EventBus {
  let sinks: readonly EventSink[] = [];
  return {
    emit(event) {
      for (const sink of sinks) {
        try {
          sink(event);
        } catch (error) {
          onSinkFailure(error);
        }
      }
    },
    subscribe(sink) {
      sinks = [...sinks, sink];
      return () => {
        sinks = sinks.filter((other) => other !== sink);
      };
    },
  };
}
