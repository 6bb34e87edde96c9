import { createEventFacts, createLive, type EventFactsDeps, type Live, type LiveDeps } from "./live-wiring.ts";
import { createWebhookWiring, type WebhookWiring, type WebhookWiringDeps } from "./webhook-wiring.ts";

/** Where events leave the gateway. */
export interface EventOutlets {
  readonly live: Live;
  readonly webhooks: WebhookWiring;
}

export type EventOutletsDeps = Omit<LiveDeps & WebhookWiringDeps, "facts"> & EventFactsDeps;

/** All outlets write events with the same function. */
export function createEventOutlets(deps: EventOutletsDeps): EventOutlets {
  const { events, clock, log, version, loadLate } = deps;
  const facts = createEventFacts(deps);
  return {
    live: createLive({ events, clock, loadLate, facts }),
    webhooks: createWebhookWiring({ events, clock, loadLate, facts, log, version }),
  };
}
