/** The time of which a page shows everything. */
export type TimeRange = "hour" | "day" | "week" | "month";

interface RangeFacts {
  readonly label: string;
  /** In the middle of a sentence. */
  readonly inWords: string;
  readonly hours: number;
  /** A bar of its chart, and how many there are. */
  readonly bar: string;
  readonly bars: number;
}

export const timeRanges: Readonly<Record<TimeRange, RangeFacts>> = {
  hour: { label: "Hour", inWords: "the last hour", hours: 1, bar: "minute", bars: 60 },
  day: { label: "Day", inWords: "the last 24 hours", hours: 24, bar: "hour", bars: 24 },
  week: { label: "Week", inWords: "the last 7 days", hours: 168, bar: "6 hours", bars: 28 },
  month: { label: "Month", inWords: "the last 30 days", hours: 720, bar: "day", bars: 30 },
};

/** The range that an address names. */
export function toTimeRange(asked: string | undefined): TimeRange {
  return asked !== undefined && Object.hasOwn(timeRanges, asked) ? (asked as TimeRange) : "day";
}

/** When each bar begins, the oldest first; the last is the one of now. Hours and days are those of this place. */
export function barStarts(range: TimeRange, nowMs: number): readonly number[] {
  const now = new Date(nowMs);
  const [year, month, date] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const [hour, minute] = [now.getHours(), now.getMinutes()];
  const startOf: Readonly<Record<TimeRange, (back: number) => Date>> = {
    hour: (back) => new Date(year, month, date, hour, minute - back),
    day: (back) => new Date(year, month, date, hour - back),
    week: (back) => new Date(year, month, date, hour - (hour % 6) - 6 * back),
    month: (back) => new Date(year, month, date - back),
  };
  const { bars } = timeRanges[range];
  return Array.from({ length: bars }, (_, at) => startOf[range](bars - 1 - at).getTime());
}

export interface TimedCount {
  readonly atMs: number;
  readonly calls: number;
  readonly errors: number;
}

/** The sums of each bar. What was before the first of them is in none. */
export function toBars(starts: readonly number[], rows: readonly TimedCount[]): readonly TimedCount[] {
  const sums = starts.map((atMs) => ({ atMs, calls: 0, errors: 0 }));
  for (const { atMs, calls, errors } of rows) {
    const sum = sums.findLast((bar) => bar.atMs <= atMs);
    if (sum === undefined) continue;
    sum.calls += calls;
    sum.errors += errors;
  }
  return sums;
}
