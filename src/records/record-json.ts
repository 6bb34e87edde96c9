import type { ServerLogLine } from "../store/record-rows.ts";
import type { CallRow } from "../store/record-store.ts";

/** A call as REST and `--json` show it. Ids are texts, because not every program reads whole numbers of 53 bits. */
export interface CallJson extends Omit<CallRow, "id" | "atMs" | "traceId"> {
  readonly id: string;
  /** When it ended: ISO 8601. */
  readonly time: string;
  /** Absent where traces were off. */
  readonly traceId?: string;
}

/** The same of a line of a server's log. */
export interface LogJson extends Omit<ServerLogLine, "id" | "atMs"> {
  readonly id: string;
  readonly time: string;
}

export function callToJson(row: CallRow): CallJson {
  return {
    id: String(row.id),
    time: toTime(row.atMs),
    team: row.team,
    principal: row.principal,
    client: row.client,
    server: row.server,
    instance: row.instance,
    via: row.via,
    method: row.method,
    name: row.name,
    outcome: row.outcome,
    code: row.code,
    durationMs: toHundredths(row.durationMs),
    waitMs: toHundredths(row.waitMs),
    argumentTokens: row.argumentTokens,
    resultTokens: row.resultTokens,
    isResultCut: row.isResultCut,
    hasBody: row.hasBody,
    ...(row.traceId === null ? {} : { traceId: row.traceId }),
  };
}

export function logToJson({ id, atMs, team, server, instance, level, line }: ServerLogLine): LogJson {
  return { id: String(id), time: toTime(atMs), team, server, instance, level, line };
}

/** Clocks are not better than that. */
function toHundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
