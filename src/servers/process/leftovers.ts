import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isOfGateway, parseGatewayMark, type GatewayMark } from "./marker.ts";
import { killFamily } from "./family.ts";
import { readStartTime, type ProcessTable } from "./process-table.ts";

/** What a running gateway leaves on disk, so that the next one can sweep after it when its guardian was killed too. */
export interface GatewayRecord {
  /** Takes the record away: nothing is left to sweep. */
  remove(): void;
}

/**
 * Writes `{directory}/{mark}.json` (mode 0600: whoever knows the mark can have his processes taken for ours).
 * Replaced atomically.
 */
export function recordGateway(directory: string, gateway: GatewayMark): GatewayRecord {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, `${gateway}.json`);
  const content = { gateway, pid: process.pid, startTime: readStartTime(process.pid) ?? null };
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { remove: () => rmSync(file, { force: true }) };
}

export interface SweepReport {
  /** Gateways of this directory that are alive: nothing of theirs was touched. */
  readonly alive: number;
  /** Gateways that ended without taking their record away. */
  readonly dead: number;
  /** Pids that carry a dead gateway's mark and could not be killed. */
  readonly stubborn: readonly number[];
}

/**
 * Kills what earlier gateways of this data directory left behind; called by `app` before the first spawn. A gateway
 * counts as alive when its pid runs with the start time that it recorded. Linux only: elsewhere records are judged by
 * nothing and kept.
 */
export async function sweepLeftovers(directory: string, table: ProcessTable): Promise<SweepReport> {
  let alive = 0;
  let dead = 0;
  const stubborn: number[] = [];
  for (const file of listRecords(directory)) {
    const record = readRecord(file);
    if (record && (process.platform !== "linux" || readStartTime(record.pid) === record.startTime)) {
      alive += 1;
      continue;
    }
    if (record) {
      dead += 1;
      stubborn.push(...(await killTreesOf(record.gateway, new Map(), table)));
    }
    rmSync(file, { force: true });
  }
  return { alive, dead, stubborn };
}

/** Founders of trees by pid, with their start times. */
export type Founders = ReadonlyMap<number, string | undefined>;

/**
 * Kills all trees of one gateway run: what carries its mark, and what `founders` founded. Resolves to the pids that
 * could not be killed.
 */
export function killTreesOf(gateway: GatewayMark, founders: Founders, table: ProcessTable): Promise<readonly number[]> {
  return killFamily(table, { founders, isMarked: (mark) => isOfGateway(mark, gateway) });
}

interface Recorded {
  readonly gateway: GatewayMark;
  readonly pid: number;
  readonly startTime: string;
}

function listRecords(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".json"))
      .map((name) => path.join(directory, name));
  } catch {
    // No gateway has ever started a process here.
    return [];
  }
}

/** A record that makes no sense was cut short by a crash of the machine: its processes are gone too. */
function readRecord(file: string): Recorded | undefined {
  try {
    const { gateway, pid, startTime } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    const mark = parseGatewayMark(gateway);
    if (!mark || typeof pid !== "number") return undefined;
    return { gateway: mark, pid, startTime: String(startTime) };
  } catch {
    return undefined;
  }
}
