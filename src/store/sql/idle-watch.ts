import type { Clock } from "../../kernel/clock.ts";

/** Notices that something has not been used for a while, with one timer however often it is used. */
export interface IdleWatch {
  /** It is used now; begins the watch where there is none. */
  touch(): void;
  stop(): void;
}

export interface IdleWatchOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** It has not been used for `idleMs`. False when it cannot be spared yet: it is asked again after the same time. */
  readonly onIdle: () => boolean;
}

export function createIdleWatch({ clock, idleMs, onIdle }: IdleWatchOptions): IdleWatch {
  let usedMs = 0;
  let cancel: (() => void) | undefined;

  function watch(delayMs: number): void {
    cancel = clock.after(delayMs, () => {
      cancel = undefined;
      const leftMs = usedMs + idleMs - clock.monotonic();
      // A timer may be a little early.
      if (leftMs >= 1) watch(leftMs);
      else if (!onIdle()) watch(idleMs);
    });
  }

  return {
    touch() {
      usedMs = clock.monotonic();
      if (cancel === undefined) watch(idleMs);
    },
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
