/** Something large that is made when it is first needed. */
export interface MadeInSteps<T> {
  /** All that is left to make is made at once. */
  get(): T;
  readonly isMade: boolean;
  /** Makes it in steps of about a millisecond, between which there may be other work. */
  steps(): Generator<undefined, void>;
}

/**
 * Nothing is made yet. A caller that takes a step, or asks for the whole, goes on where the last one stopped. An error
 * of `make` is thrown to the caller of that step, and the next step starts over.
 */
export function madeInSteps<T extends object>(make: () => Generator<undefined, T>): MadeInSteps<T> {
  let making: Generator<undefined, T> | undefined;
  let made: T | undefined;

  function takeStep(): T | undefined {
    making ??= make();
    let isOver = true;
    try {
      const step = making.next();
      if (step.done === true) made = step.value;
      else isOver = false;
    } finally {
      // One that has thrown would answer for ever that it is done, with nothing; one that is done keeps what it read.
      if (isOver) making = undefined;
    }
    return made;
  }

  return {
    get isMade() {
      return made !== undefined;
    },
    get() {
      let done = made;
      while (done === undefined) done = takeStep();
      return done;
    },
    *steps() {
      while (made === undefined) {
        takeStep();
        yield;
      }
    },
  };
}
