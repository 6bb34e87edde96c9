/** Does all of what is written to be done in slices. */
export function atOnce<T>(slices: Generator<unknown, T>): T {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
  }
}
