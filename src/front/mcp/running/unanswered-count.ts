/** How many requests of one client wait for their answers: the connection is closed only after these. */
export interface UnansweredCount {
  enter(): void;
  leave(): void;
  /** `run` is called whenever none waits: at once, perhaps, and each time that the last one has been answered. */
  whenNone(run: () => void): void;
}

export function createUnansweredCount(): UnansweredCount {
  let count = 0;
  let onNone: (() => void) | undefined;
  return {
    enter() {
      count += 1;
    },
    leave() {
      count -= 1;
      if (count === 0) onNone?.();
    },
    whenNone(run) {
      onNone = run;
      if (count === 0) run();
    },
  };
}
