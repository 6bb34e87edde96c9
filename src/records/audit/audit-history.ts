import type { AuditRow } from "../../store/record-rows.ts";
import type { AuditQuery, AuditVerdict, Page } from "../../store/record-store.ts";
import { requireStore, type StoreSource } from "../store-standing.ts";

/** The audit as people read it. Everything rejects with STORE_UNAVAILABLE. */
export interface AuditHistory {
  /** Newest first. */
  page(query: AuditQuery): Promise<Page<AuditRow>>;
  verify(): Promise<AuditCheck>;
}

/** Whether the chain is whole, and what never came into it. */
export interface AuditCheck {
  readonly isWhole: boolean;
  /** Those that are there, and in order. */
  readonly entries: number;
  /** The last of the entries that were removed because they were old; null where none ever was. */
  readonly pruned: { readonly seq: number; readonly hash: string; readonly time: string } | null;
  /** Hash of the last entry; null when the chain is broken. Kept elsewhere, it shows that nothing was cut off. */
  readonly last: string | null;
  readonly brokenAt: number | null;
  readonly reason: string | null;
  /** Entries that could not be written since the gateway started. */
  readonly lost: number;
}

export function createAuditHistory(records: StoreSource, audit: { readonly lost: number }): AuditHistory {
  return {
    page: async (query) => await requireStore(records).audits(query),
    verify: async () => toCheck(await requireStore(records).verifyAudit(), audit.lost),
  };
}

export function toCheck(verdict: AuditVerdict, lost: number): AuditCheck {
  const { kind, entries, checkpoint } = verdict;
  const pruned =
    checkpoint === null
      ? null
      : { seq: checkpoint.seq, hash: checkpoint.hash, time: new Date(checkpoint.atMs).toISOString() };
  return kind === "whole"
    ? { isWhole: true, entries, pruned, last: verdict.last, brokenAt: null, reason: null, lost }
    : { isWhole: false, entries, pruned, last: null, brokenAt: verdict.brokenAt, reason: verdict.reason, lost };
}

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
