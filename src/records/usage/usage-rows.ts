import { type UsageHour, latencyBoundsMs } from "../../store/record-rows.ts";
import type { UsageDimension, UsageQuery, UsageSum } from "../../store/record-store.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { tokensOfBytes } from "../calls/byte-tokens.ts";

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

type Call = EventOf<"mcp.request.logs">;

/** Counts of one key in one hour, while they are added to. */
export type UsageRow = { -readonly [Field in keyof UsageHour]: UsageHour[Field] } & { buckets: number[] };

/** The calls of one hour, by who called what, with what, and how it ended. */
export interface UsageRows {
  readonly hourMs: number;
  readonly size: number;
  add(call: Call): void;
  rows(): readonly UsageRow[];
}

/** The common label of further keys when there are more than are kept apart. */
export const otherLabel = "other";

export interface UsageLimits {
  /** Keys of one hour: a thousand people with ten tools each, in 5 MB. */
  readonly keys: number;
  /** Names of clients in one hour. They are whatever a client says, so that one that lies could make any number. */
  readonly clients: number;
}

export const usageLimits: UsageLimits = { keys: 10_000, clients: 200 };

const hourLengthMs = 3_600_000;

export function hourOf(atMs: number): number {
  return atMs - (atMs % hourLengthMs);
}

/**
 * Counts of one hour, empty at first. A key is found by looking it up in maps of its parts, which are strings that
 * exist already: to join them would cost more than everything else here.
 */
export function createUsageRows(hourMs: number, limits: UsageLimits = usageLimits): UsageRows {
  const byInstance = new Map<string, Map<string, Map<string, UsageRow[]>>>();
  const clients = new Set<string>();
  let size = 0;

  function clientOf(call: Call): string | null {
    const { client } = call;
    if (client === undefined || clients.has(client)) return client ?? null;
    if (clients.size >= limits.clients) return otherLabel;
    clients.add(client);
    return client;
  }

  /** Beyond the limit, tools and clients are counted together, and then people: sums stay whole. */
  function find(call: Call, client: string | null, code: string): UsageRow {
    const { instance, principal } = call;
    const tool = toolOf(call);
    const found = lookUp(instance, tool, principal, { team: call.team, client, code });
    if (found !== undefined) return found;
    if (size < limits.keys) return make(call, { instance, tool, principal, client, code });
    const crowd = { instance, tool: otherLabel, principal, client: null, code: code === "" ? "" : otherLabel };
    const same = { team: call.team, client: null, code: crowd.code };
    const shared = lookUp(instance, otherLabel, principal, same);
    if (shared !== undefined) return shared;
    if (size < 2 * limits.keys) return make(call, crowd);
    const nobody = { ...crowd, instance: otherLabel, principal: otherLabel };
    const rest = lookUp(otherLabel, otherLabel, otherLabel, { ...same, team: null });
    return rest ?? make({ ...call, team: null, server: otherLabel as Call["server"] }, nobody);
  }

  function lookUp(instance: string, tool: string, principal: string, rest: Rest): UsageRow | undefined {
    const rows = byInstance.get(instance)?.get(tool)?.get(principal);
    if (rows === undefined) return undefined;
    // One person uses one tool with few clients, and it fails in few ways.
    for (const row of rows)
      if (row.code === rest.code && row.client === rest.client && row.team === rest.team) return row;
    return undefined;
  }

  function make({ team, server }: Pick<Call, "team" | "server">, key: Key): UsageRow {
    const counts = { calls: 0, durationMsSum: 0, durationMsMax: 0, argumentTokens: 0, resultTokens: 0, cut: 0 };
    const buckets = latencyBoundsMs.map(() => 0).concat(0);
    const row: UsageRow = { hourMs, team, server, ...key, ...counts, buckets };
    const byTool = entry(byInstance, key.instance, () => new Map<string, Map<string, UsageRow[]>>());
    const byPrincipal = entry(byTool, key.tool, () => new Map<string, UsageRow[]>());
    entry(byPrincipal, key.principal, (): UsageRow[] => []).push(row);
    size += 1;
    return row;
  }

  return {
    hourMs,
    get size() {
      return size;
    },
    add: (call) => count(find(call, clientOf(call), codeOf(call)), call),
    rows: () =>
      [...byInstance.values()].flatMap((tools) => [...tools.values()].flatMap((people) => [...people.values()].flat())),
  };
}

type Key = Pick<UsageHour, "instance" | "tool" | "principal" | "client" | "code">;
type Rest = Pick<UsageHour, "team" | "client" | "code">;

function count(row: UsageRow, { durationMs, argumentBytes, resultBytes, cutTokens }: Call): void {
  row.calls += 1;
  row.durationMsSum += durationMs;
  if (durationMs > row.durationMsMax) row.durationMsMax = durationMs;
  row.argumentTokens += tokensOfBytes(argumentBytes);
  row.resultTokens += tokensOfBytes(resultBytes);
  if (cutTokens > 0) row.cut += 1;
  let bucket = 0;
  while (bucket < latencyBoundsMs.length && durationMs > (latencyBoundsMs[bucket] ?? 0)) bucket += 1;
  row.buckets[bucket] = (row.buckets[bucket] ?? 0) + 1;
}

/** After it was written: the next counts of the same key are added to the stored ones. */
export function clearCounts(row: UsageRow): void {
  row.calls = 0;
  row.durationMsSum = 0;
  row.durationMsMax = 0;
  row.argumentTokens = 0;
  row.resultTokens = 0;
  row.cut = 0;
  row.buckets = row.buckets.map(() => 0);
}

/**
 * Of requests other than tool calls only the method is counted: there is no end of URIs, and some of them have a secret
 * in them.
 */
function toolOf({ method, path }: Call): string {
  return method === "tools/call" ? path : method;
}

/** "" where it went well. */
function codeOf({ outcome, serverCode }: Call): string {
  if (outcome === "ok") return "";
  return outcome === "error" && serverCode !== undefined ? String(serverCode) : outcome;
}

function entry<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
