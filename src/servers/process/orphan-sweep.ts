import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isOfGateway, parseGatewayMark, type GatewayMark } from "./marker.ts";
import { killFamily } from "./guardian/process-group.ts";
import { readStartTime, type ProcessTable } from "./process-table.ts";

/** The file by which the next gateway can clean up after this one, in case its guardian was killed too. */
export interface GatewayRecord {
  /** Removes the record, because there is nothing left to clean up. */
  remove(): void;
}

/**
 * Writes `{directory}/{mark}.json` atomically. Mode 0600, because with the mark, processes of the same user can be
 * passed off as ours.
 */
export function recordGateway(directory: string, gateway: GatewayMark): GatewayRecord {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, `${gateway}.json`);
  const content = { gateway, pid: process.pid, startTime: readStartTime(process.pid) ?? null };
  writeFileSync(`${file}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { remove: () => rmSync(file, { force: true }) };
}

/** What a sweep found. */
export interface SweepReport {
  /** Gateways of this directory that still run; nothing of theirs was touched. */
  readonly alive: number;
  /** Gateways that ended without removing their record. */
  readonly dead: number;
  /** Pids that carry the mark of a dead gateway and could not be killed. */
  readonly stubborn: readonly number[];
}

/**
 * Kills what earlier gateways of this data directory left behind. `app` calls it before the first spawn. A gateway
 * counts as running when its pid has the start time that it recorded. Works on Linux only; elsewhere, start times are
 * unknown and records are kept.
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

/** Start time of each tree's root process, by pid. */
export type Founders = ReadonlyMap<number, string | undefined>;

/**
 * Kills all trees of one gateway: processes that carry its mark, and those in groups or sessions of `founders`.
 * Resolves to the pids that could not be killed.
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
    // No gateway has started a process here yet.
    return [];
  }
}

/** A damaged record was cut short when the machine crashed, so its processes have ended too. */
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
