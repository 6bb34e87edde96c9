/** The median of some values, and between which of them the true one lies 19 times out of 20. */
export interface Middle {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Nothing is assumed about how the values are spread: of a busy machine some are always far off. The interval is that
 * of the sign test, so that a dozen values are the least of which it says anything.
 */
export function middleOf(values: readonly number[]): Middle {
  const sorted = values.toSorted((left, right) => left - right);
  const half = (sorted.length - 1) / 2;
  const at = (place: number): number => sorted[Math.min(sorted.length - 1, Math.max(0, place))] ?? Number.NaN;
  const reach = 0.98 * Math.sqrt(sorted.length);
  return {
    median: (at(Math.floor(half)) + at(Math.ceil(half))) / 2,
    low: at(Math.floor(half - reach)),
    high: at(Math.ceil(half + reach)),
  };
}
