import { createWebhookDelivery, type WebhookDeliveryOptions } from "./webhook-delivery.ts";

/** Events that wait to be sent to one receiver, in their order. */
export interface WebhookQueue {
  add(text: string): void;
  /** Tries once to send the waiting events, and gives up the rest when the signal aborts. */
  flush(signal: AbortSignal): Promise<void>;
  /** Gives up what waits. */
  end(): void;
}

export type WebhookQueueOptions = Omit<WebhookDeliveryOptions, "hurry" | "lifetime">;

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
export function createWebhookQueue(options: WebhookQueueOptions): WebhookQueue {
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
