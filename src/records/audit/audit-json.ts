import type { AuditRow } from "../../store/record-rows.ts";

/** An entry as REST, the terminal and exports show it. `detail` stays a text: the seal is over its bytes. */
export interface AuditJson extends Omit<AuditRow, "atMs"> {
  /** ISO 8601. With ms, as it was sealed. */
  readonly time: string;
}

export const auditColumns = [
  "seq",
  "time",
  "actor",
  "via",
  "team",
  "action",
  "object",
  "outcome",
  "ip",
  "detail",
  "prev",
  "hash",
] as const satisfies readonly (keyof AuditJson)[];

export function auditToJson({ atMs, ...row }: AuditRow): AuditJson {
  const { seq, actor, via, team, action, object, outcome, ip, detail, prev, hash } = row;
  const time = new Date(atMs).toISOString();
  return { seq, time, actor, via, team, action, object, outcome, ip, detail, prev, hash };
}

/** One entry as a line of JSON. */
export function auditToLine(row: AuditJson): string {
  return `${JSON.stringify(row)}\n`;
}

/** One entry as cells of CSV. */
export function auditToCells(row: AuditJson): readonly (string | number)[] {
  return auditColumns.map((column) => row[column] ?? "");
}
