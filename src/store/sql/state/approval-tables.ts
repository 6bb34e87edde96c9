import type { Kysely } from "kysely";
import { approvalTables, type ApprovalWrites, type KeptApprovals } from "../../approval-rows.ts";
import type { StateTables } from "../tables.ts";
import { putRow } from "./state-rows.ts";

const { approval, approval_grant } = approvalTables;

/** The newest first. */
export async function readApprovals(db: Kysely<StateTables>, ids: readonly string[] | null): Promise<KeptApprovals> {
  let approvals = db.selectFrom("approval").selectAll();
  let grants = db.selectFrom("approval_grant").selectAll();
  if (ids !== null) {
    approvals = approvals.where("id", "in", [...ids]);
    grants = grants.where("id", "in", [...ids]);
  }
  const found = await approvals.orderBy("asked_at_ms", "desc").orderBy("id").execute();
  const given = await grants.orderBy("made_at_ms", "desc").orderBy("id").execute();
  return {
    approvals: found.map((row) => approval.toRow(row).about),
    grants: given.map((row) => approval_grant.toRow(row).about),
  };
}

/**
 * Inside a transaction of a writer. False, with nothing written, where an approval is not in the state that the change
 * was planned with, or where a call that is the same waits already.
 */
export async function writeApprovals(db: Kysely<StateTables>, writes: ApprovalWrites): Promise<boolean> {
  for (const { row, was } of writes.approvals) {
    const same = db.selectFrom("approval").select("state");
    const found = await (
      was === null
        ? same.where("binding", "=", row.binding).where("state", "=", "waiting")
        : same.where("id", "=", row.id)
    ).executeTakeFirst();
    if (found?.state !== (was ?? undefined)) return false;
  }
  for (const id of writes.lostApprovals) await db.deleteFrom("approval").where("id", "=", id).execute();
  for (const id of writes.lostGrants) await db.deleteFrom("approval_grant").where("id", "=", id).execute();
  for (const { row: about } of writes.approvals) {
    const { id, team, binding, state, askedAtMs } = about;
    await putRow(db, "approval", { id, team, binding, state, askedAtMs, about }, { by: ["id"] });
  }
  for (const about of writes.grants) {
    const { id, team, madeAtMs } = about;
    await putRow(db, "approval_grant", { id, team, madeAtMs, about });
  }
  return true;
}
