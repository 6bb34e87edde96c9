const units = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** A duration for people to read, in its largest unit: `2 h`, `3.5 min`, `0.3 s`. */
export function toDurationText(durationMs: number): string {
  const [unit, ms] = units.find(([, size]) => durationMs >= size) ?? units[2];
  return `${Math.round((durationMs / ms) * 10) / 10} ${unit}`;
}
