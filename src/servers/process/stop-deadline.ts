/** Waits that can be cut short for good: once it has ended, every wait returns at once. */
export interface Patience {
  /** Ends all current and future waits. Further calls have no effect. */
  end(): void;
  /** Whether `end` has been called. */
  isOver(): boolean;
  /** Resolves when `end` is called. */
  readonly ended: Promise<void>;
  /** Resolves when `promise` settles, after `limitMs`, or when patience ends, whichever comes first. Never rejects. */
  wait(promise: Promise<unknown>, limitMs: number): Promise<void>;
  /** Resolves after `delayMs`, or when patience ends. */
  sleep(delayMs: number): Promise<void>;
}

/** Patience that has not ended. */
export function createPatience(): Patience {
  let over = false;
  let wake: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    wake = resolve;
  });

  async function sleep(delayMs: number, earlier: Promise<unknown> = ended): Promise<void> {
    if (over || delayMs <= 0) return;
    let timer: NodeJS.Timeout | undefined;
    const elapsed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, delayMs);
    });
    await Promise.race([elapsed, ended, earlier]).catch(() => undefined);
    clearTimeout(timer);
  }

  return {
    end() {
      over = true;
      wake();
    },
    isOver: () => over,
    ended,
    wait: (promise, limitMs) => sleep(limitMs, promise),
    sleep: (delayMs) => sleep(delayMs),
  };
}
