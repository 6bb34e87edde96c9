import { isDeepStrictEqual } from "node:util";
import type { WebhookSettings } from "../../config/rows/webhook-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createTypeFilter, type PublishedEvent } from "../../kernel/events/published-events.ts";
import type { EventToJson } from "./event-json.ts";
import { createWebhookAddresses, type WebhookAddresses, postWebhook } from "./webhook-post.ts";
import { createWebhookQueue, type WebhookQueue } from "./webhook-queue.ts";
import { createHmac } from "node:crypto";

/** The header of a delivery that says by whom and when it was written. */
const signatureHeader = "Toolyard-Signature";

/**
 * `t=<seconds>,v1=<HMAC-SHA256 of "seconds.body" with the secret, in hexadecimal>`. A receiver that refuses old
 * seconds cannot be sent the same delivery again by somebody who has seen it.
 */
function signWebhook(body: string, secret: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

/** Sends events to the receivers of the configuration. */
export interface Webhooks {
  take(event: PublishedEvent): void;
  /** Receivers that stay the same keep what waits for them. */
  follow(hooks: readonly WebhookSettings[], allowed: readonly string[]): void;
  /** Sends what waits, for as long as the signal permits, and nothing more afterwards. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface WebhooksOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly toJson: EventToJson;
  readonly version: string;
}

interface Receiver {
  readonly settings: WebhookSettings;
  readonly isWanted: (type: PublishedEvent["type"]) => boolean;
  readonly queue: WebhookQueue;
}

/** Without receivers at first. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  let receivers: readonly Receiver[] = [];
  let addresses = createWebhookAddresses([]);

  function open(settings: WebhookSettings): Receiver {
    const queue = openQueue(settings, () => addresses, options);
    return { settings, isWanted: createTypeFilter(settings.types), queue };
  }

  return {
    take(event) {
      // Written once for all, and not at all when no webhook wants it.
      let text: string | undefined;
      for (const { isWanted, queue } of receivers)
        if (isWanted(event.type)) queue.add((text ??= options.toJson(event, "whole")));
    },
    follow(hooks, allowed) {
      addresses = createWebhookAddresses(allowed);
      const staying = hooks.map((hook) => receivers.find(({ settings }) => isDeepStrictEqual(settings, hook)));
      for (const receiver of receivers) if (!staying.includes(receiver)) receiver.queue.end();
      receivers = hooks.map((hook, index) => staying[index] ?? open(hook));
    },
    async stop(signal) {
      await Promise.all(receivers.map(async ({ queue }) => await queue.flush(signal)));
      for (const { queue } of receivers) queue.end();
      receivers = [];
    },
  };
}

function openQueue(
  { url, secret }: WebhookSettings,
  addresses: () => WebhookAddresses,
  { clock, log, version }: WebhooksOptions,
): WebhookQueue {
  const target = new URL(url);
  return createWebhookQueue({
    name: target.origin,
    clock,
    log,
    async post(body, id, signal) {
      const headers = {
        "Content-Type": "application/json",
        "User-Agent": `toolyard/${version}`,
        "Toolyard-Delivery": id,
        [signatureHeader]: signWebhook(body, secret, clock.now()),
      };
      return await postWebhook({ url: target, headers, body }, addresses(), signal);
    },
  });
}
