import { countText } from "../text/count-text.ts";
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
