import { isDeepStrictEqual } from "node:util";
import type { WebhookSettings } from "../../config/rows/webhook-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createTypeFilter, type PublishedEvent } from "../../kernel/events/published-events.ts";
import type { EventToJson } from "./event-json.ts";
import { createWebhookAddresses, type WebhookAddresses, postWebhook } from "./webhook-post.ts";
import { createHmac, randomUUID } from "node:crypto";

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

/** Events that wait to be sent to one receiver, in their order. */
interface WebhookQueue {
  add(text: string): void;
  /** Tries once to send the waiting events, and gives up the rest when the signal aborts. */
  flush(signal: AbortSignal): Promise<void>;
  /** Gives up what waits. */
  end(): void;
}

const batchMs = 3_000;
const batchEvents = 20;
/** Half an hour of a busy gateway's changes, or a few seconds of its calls. */
const mostWaiting = 1_000;
/** A list of a hundred tools takes 200 KB. */
const mostWaitingChars = 8 * 1024 * 1024;

/**
 * Batches of up to twenty events, at the latest three seconds after the first of them, and one at a time. While a
 * batch is tried again, what comes is kept up to a limit; then the oldest are dropped, and the next batch that arrives
 * says how many.
 */
function createWebhookQueue(options: Omit<WebhookDeliveryOptions, "hurry" | "lifetime">): WebhookQueue {
  const { name, clock, log } = options;
  const lifetime = new AbortController();
  const hurry = new AbortController();
  const deliver = createWebhookDelivery({ ...options, hurry: hurry.signal, lifetime: lifetime.signal });
  let waiting: string[] = [];
  let chars = 0;
  let dropped = 0;
  let cancelBatch: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  function noteDropped(events: number): void {
    if (dropped === 0)
      log.warn({ component: "webhooks", operation: "drop" }, `events for ${name} are dropped: it does not take them`);
    dropped += events;
  }

  function takeBatch(): readonly string[] {
    const batch = waiting.splice(0, batchEvents);
    chars -= batch.reduce((sum, text) => sum + text.length, 0);
    return batch;
  }

  /** Until there is no full batch any more, or nothing at all when it is the last chance. */
  async function sendAll(): Promise<void> {
    do {
      const batch = takeBatch();
      const told = dropped;
      dropped = 0;
      if (await deliver(batch, told)) continue;
      noteDropped(told + batch.length);
      // The next batch would fare no better.
      if (hurry.signal.aborted) waiting = [];
    } while (waiting.length >= batchEvents || (hurry.signal.aborted && waiting.length > 0));
  }

  function start(): void {
    cancelBatch?.();
    cancelBatch = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (waiting.length > 0) startSoon();
    });
  }

  function startSoon(): void {
    cancelBatch ??= clock.after(batchMs, start);
  }

  function end(): void {
    cancelBatch?.();
    waiting = [];
    hurry.abort();
    lifetime.abort();
  }

  return {
    add(text) {
      if (lifetime.signal.aborted) return;
      waiting.push(text);
      chars += text.length;
      while (waiting.length > mostWaiting || (chars > mostWaitingChars && waiting.length > 1)) {
        chars -= waiting.shift()?.length ?? 0;
        noteDropped(1);
      }
      if (sending === undefined && waiting.length >= batchEvents) start();
      else if (sending === undefined) startSoon();
    },
    async flush(signal) {
      if (signal.aborted) end();
      signal.addEventListener("abort", end, { once: true });
      hurry.abort();
      await sending;
      if (waiting.length > 0) start();
      await sending;
      signal.removeEventListener("abort", end);
    },
    end,
  };
}

interface WebhookDeliveryOptions {
  /** For the log: the receiver's address without path and query, which may hold secrets. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves to undefined when the receiver has the body, otherwise to the reason. */
  readonly post: (body: string, id: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Aborts when one attempt is enough. */
  readonly hurry: AbortSignal;
  /** Aborts deliveries in progress. */
  readonly lifetime: AbortSignal;
}

/** Sends one batch; `lost` is how many events before it were dropped. Resolves to whether the receiver has it. */
type WebhookDelivery = (batch: readonly string[], lost: number) => Promise<boolean>;

/** With the waits below, a receiver may be away for about a minute. */
const mostAttempts = 7;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/** A batch is tried again with the same id after 1, 2, 4 ... seconds, and given up after the seventh attempt. */
function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { name, clock, log, post, hurry, lifetime } = options;
  let isFailing = false;

  function note(problem: string | undefined): void {
    if (problem === undefined && isFailing) log.info({ component: "webhooks" }, `${name} takes events again`);
    if (problem !== undefined && !isFailing)
      log.warn({ component: "webhooks" }, `events cannot be sent to ${name}: ${problem}`);
    isFailing = problem !== undefined;
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        hurry.removeEventListener("abort", done);
        resolve();
      };
      const cancel = clock.after(ms, done);
      hurry.addEventListener("abort", done);
    });
  }

  return async (batch, lost) => {
    const id = randomUUID();
    const body = `{"id":"${id}","dropped":${lost},"events":[${batch.join(",")}]}`;
    for (let attempt = 1; ; attempt += 1) {
      const problem = await post(body, id, lifetime);
      if (problem !== undefined && lifetime.aborted) return false;
      note(problem);
      if (problem === undefined) return true;
      if (attempt === mostAttempts || hurry.aborted) return false;
      await pause(Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1)));
    }
  };
}
