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

/**
 * Names a setting in a hint, with the value in force: `limits.requestBodyBytes, now 4 MiB`. The reader then knows
 * what to raise even when the default was changed long ago. The unit of the value is taken from the end of the name
 * (`Bytes`, `Ms`).
 */
export function settingNow(name: string, value: number): string {
  return `${name}, now ${valueText(name, value)}`;
}

function valueText(name: string, value: number): string {
  if (name.endsWith("Bytes")) return sizeText(value);
  return name.endsWith("Ms") ? timeText(value) : countText(value);
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** Exact: a size that is not a whole number of one unit is given in the next smaller one. */
function sizeText(bytes: number): string {
  if (bytes >= MiB && bytes % MiB === 0) return `${bytes / MiB} MiB`;
  return bytes >= KiB && bytes % KiB === 0 ? `${bytes / KiB} KiB` : `${bytes} bytes`;
}

function timeText(ms: number): string {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return `${ms / 1_000} s`;
}

/**
 * A number for people to read, with commas from five digits on: 4000, 12,345. `Intl` is avoided because its first use
 * loads its data, which adds 8 MB and 24 ms to every start.
 */
export function countText(value: number): string {
  const text = String(value);
  return /^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(?:\d{3})+$)/g, ",") : text;
}
