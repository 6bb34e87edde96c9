import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { EventRecord, ServerLogLine } from "../../store/record-rows.ts";
import type { CallRow } from "../../store/record-store.ts";

/** A call as REST and `--json` show it. Ids are texts, because not every program reads whole numbers of 53 bits. */
export interface CallJson extends Omit<CallRow, "id" | "atMs" | "traceId" | "node" | "serverNode"> {
  readonly id: string;
  /** When it ended: ISO 8601. */
  readonly time: string;
  /** Absent where traces were off. */
  readonly traceId?: string;
  /** Absent where there is no cluster. */
  readonly node?: string;
  /** Absent where that node ran the server itself. */
  readonly serverNode?: string;
}

/** The same of a line of a server's log. */
export interface LogJson extends Omit<ServerLogLine, "id" | "atMs"> {
  readonly id: string;
  readonly time: string;
}

/** Something that happened to an instance. */
export interface EventJson {
  readonly id: string;
  readonly time: string;
  readonly type: string;
  readonly server: string | null;
  readonly instance: string | null;
  readonly principal: string | null;
  /** What the type has beyond that. */
  readonly data: JsonObject;
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
    installation: row.installation,
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
    message: row.message,
    ...(row.traceId === null ? {} : { traceId: row.traceId }),
    ...(row.node === null ? {} : { node: row.node }),
    ...(row.serverNode === null ? {} : { serverNode: row.serverNode }),
  };
}

export function logToJson({ id, atMs, team, server, instance, level, line }: ServerLogLine): LogJson {
  return { id: String(id), time: toTime(atMs), team, server, instance, level, line };
}

/** A recorded event, in the shape of the live stream's. */
export function eventToJson({ id, atMs, type, server, instance, principal, detail }: EventRecord): EventJson {
  return { id: String(id), time: toTime(atMs), type, server, instance, principal, data: toDetail(detail) };
}

function toDetail(detail: string): JsonObject {
  const value: unknown = JSON.parse(detail);
  return isJsonObject(value) ? value : {};
}

/** Clocks are not better than that. */
function toHundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
