import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { AccessWrites } from "../../store/access-rows.ts";
import type { PeopleWrites } from "../../store/people-rows.ts";
import type { AuditEntry } from "../../store/record-rows.ts";
import { toAuditEntry, type ChangeFacts } from "../changes/change-writer.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";

/** What an entry of the audit says of a change. */
export type Change = ChangeFacts & Pick<AuditEntry, "actor" | "via" | "ip">;

/**
 * Changes how people get in: on the disk with its entry in the audit, and then in force. Resolves to false, with
 * nothing changed, when a link or code that it depends on was used before. Rejects as the store does.
 */
export type ChangeAccess = (writes: AccessWrites, change?: Change, people?: PeopleWrites) => Promise<boolean>;

export interface AccessChangesDeps {
  readonly store: Pick<AccessStore, "change">;
  readonly directory: Pick<TeamDirectory, "apply" | "applyAccess">;
  readonly clock: Pick<Clock, "now">;
}

export function createAccessChanges({ store, directory, clock }: AccessChangesDeps): ChangeAccess {
  function takeAway({ goneGrants, goneSessions, goneItems }: AccessWrites): void {
    if (goneGrants === undefined && goneSessions === undefined && goneItems === undefined) return;
    directory.applyAccess({
      ...(goneGrants === undefined ? {} : { goneGrants }),
      ...(goneSessions === undefined ? {} : { goneSessions }),
      ...(goneItems === undefined ? {} : { goneItems }),
    });
  }

  return async (writes, change, people = {}) => {
    // Rights that are taken away end at once, whatever the database says: they would come back with the next start
    // only.
    if (writes.once === undefined) takeAway(writes);
    const entries = change === undefined ? [] : [toAuditEntry(change, clock.now())];
    const isDone = await store.change(writes, entries, people).catch((error: unknown) => {
      takeAway(writes);
      throw error;
    });
    if (!isDone) return false;
    if (Object.keys(people).length > 0) directory.apply(people);
    directory.applyAccess(writes);
    return true;
  };
}

/** A value that cannot be guessed, and its SHA-256, the part that is kept. */
export function createSecret(): { readonly value: string; readonly hash: string } {
  const value = randomBytes(32).toString("base64url");
  return { value, hash: sha256(value) };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
