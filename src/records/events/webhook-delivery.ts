import { randomUUID } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";

export interface WebhookDeliveryOptions {
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
export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
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
