import { question } from "./question.ts";
import { integer, json, table, text, textOrNull, word } from "./state-table.ts";
import type { Approval, ApprovalState, Grant, KeptApprovals } from "./store.ts";

/**
 * Calls that wait for a person's yes, and remembered yeses, of gateways that share a database. One gateway alone keeps
 * them in a file. The columns beside `about` are those that questions look at.
 */
export const approvalTables = {
  approval: table({
    id: text,
    /** The slug of the team of the person who asks. */
    team: textOrNull,
    binding: text,
    state: word<ApprovalState>(),
    askedAtMs: integer,
    about: json<Approval>(),
  }),
  approval_grant: table({
    id: text,
    team: textOrNull,
    madeAtMs: integer,
    about: json<Grant>(),
  }),
};

/** One change: nothing of it is written where an approval is not in the state that it was planned with. */
export interface ApprovalWrites {
  /** `was` is null for a new one: then no call with its binding may wait already. */
  readonly approvals: readonly { readonly row: Approval; readonly was: ApprovalState | null }[];
  readonly goneApprovals: readonly string[];
  readonly grants: readonly Grant[];
  readonly goneGrants: readonly string[];
}

/** What differs between two of them, of which one was made from the other. */
export function toApprovalWrites(before: KeptApprovals, next: KeptApprovals): ApprovalWrites {
  const states = new Map(before.approvals.map((one) => [one.id, one.state]));
  const known = new Set<object>([...before.approvals, ...before.grants]);
  const gone = (rows: readonly { readonly id: string }[], left: readonly { readonly id: string }[]): string[] => {
    const ids = new Set(left.map(({ id }) => id));
    return rows.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  };
  const changed = next.approvals.filter((row) => !known.has(row));
  return {
    approvals: changed.map((row) => ({ row, was: states.get(row.id) ?? null })),
    goneApprovals: gone(before.approvals, next.approvals),
    grants: next.grants.filter((row) => !known.has(row)),
    goneGrants: gone(before.grants, next.grants),
  };
}

export const approvalQuestions = {
  /** Those of these ids; of null, all. */
  approvals: question<readonly string[] | null, KeptApprovals & { readonly seq?: number }>(),
  changeApprovals: question<ApprovalWrites, { readonly isDone: boolean; readonly change?: number }>(),
};
