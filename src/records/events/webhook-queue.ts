import { randomUUID } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";

/** Events that wait to be sent to one receiver, in their order. */
export interface WebhookQueue {
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
export function createWebhookQueue(options: Omit<WebhookDeliveryOptions, "hurry" | "lifetime">): WebhookQueue {
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
export type WebhookDelivery = (batch: readonly string[], lost: number) => Promise<boolean>;

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
