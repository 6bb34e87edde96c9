import type { DevQuery } from "./data.ts";

/** What one engine answered to one query: tool ids, best first, at most ten. */
export type Ask = (query: DevQuery) => Promise<readonly string[]>;

export interface Measured {
  readonly queries: number;
  /** Share of needs met within the first k, in %. */
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
  /** Mean reciprocal rank of the first relevant tool, in %. */
  readonly mrr: number;
  /** Queries without any result, in %. */
  readonly empty: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Queries asked before measuring: the first ones pay for compilation and for reading the vocabulary. */
const usualWarmUp = 50;

/**
 * Asks every query, after a warm-up, and judges the answers. A query that is asked in several rounds is timed by its
 * quickest one: what other processes do on the machine is not ours.
 */
export async function measure(
  queries: readonly DevQuery[],
  ask: Ask,
  { warmUp = usualWarmUp, rounds = 1 } = {},
): Promise<Measured> {
  for (const query of queries.slice(0, warmUp)) await ask(query);
  const judged: Judged[] = [];
  for (const query of queries) {
    let found: readonly string[] = [];
    let ms = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      found = await ask(query);
      ms = Math.min(ms, performance.now() - start);
    }
    judged.push({ ...judge(query, found), ms });
  }
  return summarise(judged);
}

export interface Judged {
  readonly at1: number;
  readonly at5: number;
  readonly at10: number;
  readonly reciprocal: number;
  readonly empty: boolean;
  readonly ms: number;
}

export function judge(query: DevQuery, found: readonly string[]): Omit<Judged, "ms"> {
  const needs = query.groups ?? query.relevant.map((id) => [id]);
  const metWithin = (k: number): number =>
    needs.filter((need) => found.slice(0, k).some((id) => need.includes(id))).length / needs.length;
  const first = found.findIndex((id) => needs.some((need) => need.includes(id)));
  return {
    at1: metWithin(1),
    at5: metWithin(5),
    at10: metWithin(10),
    reciprocal: first < 0 ? 0 : 1 / (first + 1),
    empty: found.length === 0,
  };
}

export function summarise(judged: readonly Judged[]): Measured {
  const percent = (value: (one: Judged) => number): number =>
    (100 * judged.reduce((sum, one) => sum + value(one), 0)) / judged.length;
  const times = judged.map((one) => one.ms).sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0;
  return {
    queries: judged.length,
    recall1: percent((one) => one.at1),
    recall5: percent((one) => one.at5),
    recall10: percent((one) => one.at10),
    mrr: percent((one) => one.reciprocal),
    empty: percent((one) => (one.empty ? 1 : 0)),
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
  };
}
