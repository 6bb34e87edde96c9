import type { Clock } from "../../../kernel/runtime/clock.ts";

/** Notices that something has not been used for a while, with one timer however often it is used. */
export interface IdleWatch {
  /** It is used now; begins the watch where there is none. */
  touch(): void;
  stop(): void;
}

export interface IdleWatchOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  /** How soon it is asked again where it cannot be spared. */
  readonly againMs: number;
  /** It has not been used for `idleMs`: told before `onIdle`, once until it is used again. */
  readonly onRest?: () => void;
  /** It has not been used for `idleMs`. False when it cannot be spared yet. */
  readonly onIdle: () => boolean;
}

export function createIdleWatch({ clock, idleMs, againMs, onRest, onIdle }: IdleWatchOptions): IdleWatch {
  let usedMs = 0;
  let isRestTold = false;
  let cancel: (() => void) | undefined;

  function watch(delayMs: number): void {
    cancel = clock.after(delayMs, () => {
      cancel = undefined;
      const leftMs = usedMs + idleMs - clock.monotonic();
      // A timer may be a little early.
      if (leftMs >= 1) return watch(leftMs);
      if (!isRestTold) {
        isRestTold = true;
        onRest?.();
      }
      // What came of that may have used it, and begun the watch again.
      if (cancel === undefined && !onIdle() && cancel === undefined) watch(againMs);
    });
  }

  return {
    touch() {
      usedMs = clock.monotonic();
      isRestTold = false;
      if (cancel === undefined) watch(idleMs);
    },
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
