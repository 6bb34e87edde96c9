import { GatewayError } from "../kernel/gateway-error.ts";
import type { AuditRow } from "../store/record-rows.ts";
import type { AuditQuery, AuditVerdict, Page, RecordStore, StoreProblem } from "../store/record-store.ts";

/** The audit as people read it. Everything rejects with STORE_UNAVAILABLE. */
export interface AuditHistory {
  /** Newest first. */
  page(query: AuditQuery): Promise<Page<AuditRow>>;
  verify(): Promise<AuditCheck>;
}

/** Whether the chain is whole, and what never came into it. */
export interface AuditCheck {
  readonly isWhole: boolean;
  readonly entries: number;
  /** Hash of the last entry; null when the chain is broken. Kept elsewhere, it shows that nothing was cut off. */
  readonly last: string | null;
  readonly brokenAt: number | null;
  readonly reason: string | null;
  /** Entries that could not be written since the gateway started. */
  readonly lost: number;
}

export interface AuditHistoryDeps {
  readonly records: {
    readonly isOn: boolean;
    store(): RecordStore | undefined;
    problems(): readonly StoreProblem[];
  };
  readonly audit: { readonly lost: number };
}

export function createAuditHistory({ records, audit }: AuditHistoryDeps): AuditHistory {
  function storeNow(): RecordStore {
    const store = records.store();
    if (store !== undefined) return store;
    const [problem] = records.problems();
    if (problem !== undefined) throw new GatewayError("STORE_UNAVAILABLE", problem.message, { hint: problem.hint });
    if (records.isOn) throw new GatewayError("STORE_UNAVAILABLE", "the store of records is still being opened");
    throw new GatewayError("STORE_UNAVAILABLE", "nothing is recorded, because records.store is off");
  }
  return {
    page: async (query) => await storeNow().audits(query),
    verify: async () => toCheck(await storeNow().verifyAudit(), audit.lost),
  };
}

export function toCheck(verdict: AuditVerdict, lost: number): AuditCheck {
  const { kind, entries } = verdict;
  return kind === "whole"
    ? { isWhole: true, entries, last: verdict.last, brokenAt: null, reason: null, lost }
    : { isWhole: false, entries, last: null, brokenAt: verdict.brokenAt, reason: verdict.reason, lost };
}
