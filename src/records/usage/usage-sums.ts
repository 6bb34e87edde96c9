import type { UsageHour } from "../../store/record-rows.ts";
import type { UsageDimension, UsageQuery, UsageSum } from "../../store/record-store.ts";
import { hourOf } from "./usage-rows.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** Of an instance, by its id. */
export type InstallationOf = (instance: string) => string;

/** Sums of rows that are in memory, as the store sums written ones. In no particular order. */
export function sumRows(
  rows: readonly UsageHour[],
  query: UsageQuery,
  installationOf: InstallationOf,
): readonly UsageSum[] {
  const fromMs = hourOf(query.fromMs);
  const toMs = Math.ceil(query.toMs / hourMs) * hourMs;
  const matching = rows.filter(
    (row) => row.calls > 0 && row.hourMs >= fromMs && row.hourMs < toMs && isAskedFor(row, query, installationOf),
  );
  return merge(matching.map((row) => toSum(row, query.by, installationOf)));
}

/** Sums of several places as one, in the order that the store promises. */
export function mergeSums(parts: readonly (readonly UsageSum[])[], { by, limit }: UsageQuery): readonly UsageSum[] {
  const time = by.findIndex((dimension) => dimension === "hour" || dimension === "day");
  const merged = merge(parts.flat());
  const ordered = merged.toSorted((left, right) => {
    const first = time < 0 ? right.calls - left.calls : Number(left.group[time]) - Number(right.group[time]);
    return first === 0 ? compareGroups(left, right) : first;
  });
  return ordered.slice(0, limit);
}

function compareGroups(left: UsageSum, right: UsageSum): number {
  for (const [at, value] of left.group.entries()) {
    const other = right.group[at] ?? "";
    const own = value ?? "";
    if (own !== other) return own < other ? -1 : 1;
  }
  return 0;
}

const filters = ["team", "principal", "server", "instance", "tool", "client"] as const;

function isAskedFor(row: UsageHour, query: UsageQuery, installationOf: InstallationOf): boolean {
  const { installation } = query;
  if (installation !== undefined && installationOf(row.instance) !== installation) return false;
  return filters.every((name) => query[name] === undefined || query[name] === row[name]);
}

function toSum(row: UsageHour, by: readonly UsageDimension[], installationOf: InstallationOf): UsageSum {
  const { calls, hourMs: lastHourMs, durationMsSum, durationMsMax, buckets, argumentTokens, resultTokens, cut } = row;
  return {
    group: by.map((dimension) => valueOf(row, dimension, installationOf)),
    calls,
    errors: row.code === "" ? 0 : calls,
    lastHourMs,
    durationMsSum,
    durationMsMax,
    buckets,
    argumentTokens,
    resultTokens,
    cut,
  };
}

function valueOf(row: UsageHour, dimension: UsageDimension, installationOf: InstallationOf): string | null {
  if (dimension === "hour") return String(row.hourMs);
  if (dimension === "installation") return installationOf(row.instance);
  return dimension === "day" ? String(row.hourMs - (row.hourMs % dayMs)) : row[dimension];
}

function merge(sums: readonly UsageSum[]): readonly UsageSum[] {
  const byGroup = new Map<string, UsageSum>();
  for (const sum of sums) {
    const key = JSON.stringify(sum.group);
    const known = byGroup.get(key);
    byGroup.set(key, known === undefined ? sum : add(known, sum));
  }
  return [...byGroup.values()];
}

function add(left: UsageSum, right: UsageSum): UsageSum {
  return {
    group: left.group,
    calls: left.calls + right.calls,
    errors: left.errors + right.errors,
    lastHourMs: Math.max(left.lastHourMs, right.lastHourMs),
    durationMsSum: left.durationMsSum + right.durationMsSum,
    durationMsMax: Math.max(left.durationMsMax, right.durationMsMax),
    buckets: left.buckets.map((calls, at) => calls + (right.buckets[at] ?? 0)),
    argumentTokens: left.argumentTokens + right.argumentTokens,
    resultTokens: left.resultTokens + right.resultTokens,
    cut: left.cut + right.cut,
  };
}
