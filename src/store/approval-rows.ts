import { question } from "./question.ts";
import { integer, json, table, text, textOrNull, word } from "./state-table.ts";
import type { Approver, ToolEffect } from "../kernel/call/tool-effects.ts";
import type { InstanceId, PrincipalId, ServerSlug, ToolPath } from "../kernel/ids.ts";

/** How long a yes counts: for one call, for the client's session, or until somebody takes it back. */
export const grantKinds = ["once", "session", "always"] as const;
export type GrantKind = (typeof grantKinds)[number];

/** `waiting`: for a person. `granted`: for the next call that is the same. `used`: that call has begun. */
export type ApprovalState = "waiting" | "granted" | "used" | "denied" | "expired";

/** A call, as far as a yes to it goes. */
export interface ApprovedCall {
  readonly principal: PrincipalId;
  readonly team: string | null;
  readonly client: string;
  readonly server: ServerSlug;
  readonly instance: InstanceId;
  readonly tool: ToolPath;
  /** SHA-256 of the tool's definition; with the kinds of doubts about the call behind it, where there are any. */
  readonly definition: string;
  /** SHA-256 over principal, instance, tool, definition and arguments. */
  readonly binding: string;
  readonly effect: ToolEffect;
  readonly because: string;
  /** Who may say yes. */
  readonly approver: Approver;
  /** The user of the database who asks: no other membership of the same user says yes where somebody else has to. */
  readonly user: string | null;
  /** What the person was when the call was made: without one of these it waits no longer. */
  readonly roles: readonly string[];
  /** Of the client's session or connection, which a yes for the session is for; null without one. */
  readonly session: string | null;
  /** As JSON, without secrets; long values in it are cut. */
  readonly args: string;
  /** Whether something of the arguments is not in `args`: then a yes is for this call alone. */
  readonly isCut: boolean;
}

/** A call that a person was asked about. */
export interface Approval extends ApprovedCall {
  readonly id: string;
  readonly state: ApprovalState;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
  readonly decidedBy: string | null;
  readonly decidedVia: string | null;
  readonly decidedAtMs: number | null;
}

/** A yes that is remembered for more than one call. */
export interface Grant {
  readonly id: string;
  readonly kind: Exclude<GrantKind, "once">;
  readonly principal: PrincipalId;
  /** What the client calls itself; a yes for its session is its alone. */
  readonly client: string;
  readonly session: string | null;
  readonly server: ServerSlug;
  readonly instance: InstanceId;
  readonly tool: ToolPath;
  readonly definition: string;
  /** Who could say it: it covers no call that takes somebody above. */
  readonly approver: Approver;
  readonly team: string | null;
  readonly user: string | null;
  readonly madeAtMs: number;
  /** Null: until it is taken back. */
  readonly untilMs: number | null;
}

export interface KeptApprovals {
  readonly approvals: readonly Approval[];
  readonly grants: readonly Grant[];
}

/** Where they outlive the process. */
export interface ApprovalStore {
  /** Those of these ids, or all, the newest first; nothing where a file is damaged. */
  read(ids?: readonly string[]): Promise<KeptApprovals>;
  /**
   * Puts `next` in the place of `before`, from which it was made. Resolves to false, with nothing written, where
   * another gateway changed something of it since; rejects when it cannot be written.
   */
  write(next: KeptApprovals, before: KeptApprovals): Promise<boolean>;
  /**
   * Where several gateways share them: calls `listener` with the ids that another one changed, and with undefined where
   * everything has to be read again.
   */
  onChange?(listener: (ids: readonly string[] | undefined) => void): () => void;
}

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
  readonly lostApprovals: readonly string[];
  readonly grants: readonly Grant[];
  readonly lostGrants: readonly string[];
}

/** What differs between two of them, of which one was made from the other. */
export function toApprovalWrites(before: KeptApprovals, next: KeptApprovals): ApprovalWrites {
  const states = new Map(before.approvals.map((one) => [one.id, one.state]));
  const known = new Set<object>([...before.approvals, ...before.grants]);
  const lost = (rows: readonly { readonly id: string }[], left: readonly { readonly id: string }[]): string[] => {
    const ids = new Set(left.map(({ id }) => id));
    return rows.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  };
  const changed = next.approvals.filter((row) => !known.has(row));
  return {
    approvals: changed.map((row) => ({ row, was: states.get(row.id) ?? null })),
    lostApprovals: lost(before.approvals, next.approvals),
    grants: next.grants.filter((row) => !known.has(row)),
    lostGrants: lost(before.grants, next.grants),
  };
}

export const approvalQuestions = {
  /** Those of these ids; of null, all. */
  approvals: question<readonly string[] | null, KeptApprovals & { readonly seq?: number }>(),
  changeApprovals: question<ApprovalWrites, { readonly isDone: boolean; readonly change?: number }>(),
};
