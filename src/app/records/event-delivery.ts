import type { EventFacts } from "../../records/events/event-json.ts";
import { createEventFacts, createLive, type EventFactsDeps, type Live, type LiveDeps } from "./live-wiring.ts";
import { createWebhookWiring, type WebhookWiring, type WebhookWiringDeps } from "./webhook-wiring.ts";

/** Where events leave the gateway. */
export interface EventDelivery {
  readonly live: Live;
  readonly webhooks: WebhookWiring;
  /** What all of them say of an event beside itself. */
  readonly facts: EventFacts;
}

export type EventDeliveryDeps = Omit<LiveDeps & WebhookWiringDeps, "facts"> & EventFactsDeps;

/** All outlets write events with the same function. */
export function createEventDelivery(deps: EventDeliveryDeps): EventDelivery {
  const { events, clock, log, version, loadLate } = deps;
  const facts = createEventFacts(deps);
  return {
    facts,
    live: createLive({ events, clock, loadLate, facts }),
    webhooks: createWebhookWiring({ events, clock, loadLate, facts, log, version }),
  };
}
