import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { publishedTypes, type PublishedEvent } from "../../kernel/events/published-events.ts";
import type { EventFacts } from "../../records/events/event-json.ts";
import type { Webhooks } from "../../records/events/webhooks.ts";

/**
 * Sends events to the receivers that the configuration names; without any, nothing is loaded and no event looked at.
 */
export interface WebhookWiring {
  follow(config: Config): void;
  stop(signal: AbortSignal): Promise<void>;
}

export interface WebhookWiringDeps {
  readonly events: EventBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly loadLate: LoadLate;
  readonly facts: EventFacts;
}

/** Events that happen while the code is loaded, which takes some milliseconds. */
const mostEarly = 1_000;

export function createWebhookWiring({ events, loadLate, facts, ...deps }: WebhookWiringDeps): WebhookWiring {
  let current: Config["settings"]["events"] | undefined;
  let webhooks: Webhooks | undefined;
  let loading: Promise<void> | undefined;
  let unsubscribe: (() => void) | undefined;
  let early: PublishedEvent[] = [];

  function take(event: PublishedEvent): void {
    if (webhooks !== undefined) webhooks.take(event);
    else if (early.length < mostEarly) early.push(event);
  }

  async function load(): Promise<void> {
    const [{ createWebhooks }, { createEventToJson }] = await loadLate(
      "the code that sends events to webhooks",
      async () =>
        await Promise.all([import("../../records/events/webhooks.ts"), import("../../records/events/event-json.ts")]),
    );
    webhooks = createWebhooks({ ...deps, toJson: createEventToJson(facts) });
    if (current !== undefined) webhooks.follow(current.webhooks, current.webhookAddresses);
    for (const event of early) webhooks.take(event);
    early = [];
  }

  function fail(error: unknown): void {
    loading = undefined;
    early = [];
    deps.log.error({ component: "webhooks", err: error }, "webhooks cannot be loaded: no events are sent");
  }

  return {
    follow({ settings }) {
      if (isDeepStrictEqual(current, settings.events)) return;
      current = settings.events;
      const isWanted = current.webhooks.length > 0;
      if (isWanted) unsubscribe ??= events.on(publishedTypes, take);
      else {
        unsubscribe?.();
        unsubscribe = undefined;
      }
      webhooks?.follow(current.webhooks, current.webhookAddresses);
      if (isWanted && webhooks === undefined) loading ??= load().catch(fail);
    },
    async stop(signal) {
      await loading;
      unsubscribe?.();
      await webhooks?.stop(signal);
    },
  };
}
