import { createHmac } from "node:crypto";
import type { Kysely } from "kysely";
import type { AuditCheckpoint } from "../../record-store.ts";
import type { StateTables } from "../tables.ts";

// Where the chain begins once old entries were removed: the last of those, sealed with the chain's key, so that no one
// without it can remove entries and say that it was for their age.

export const checkpointKey = "audit.checkpoint";

interface SealedCheckpoint extends AuditCheckpoint {
  readonly seal: string;
}

export function checkpointToText(checkpoint: AuditCheckpoint, key: Uint8Array): string {
  return JSON.stringify({ ...checkpoint, seal: sealOf(checkpoint, key) } satisfies SealedCheckpoint);
}

/** Undefined for a text that is none, and for one that was changed or sealed with another key. */
export function checkpointFromText(text: string, key: Uint8Array): AuditCheckpoint | undefined {
  try {
    const { seq, hash, atMs, seal } = JSON.parse(text) as Partial<SealedCheckpoint>;
    if (typeof seq !== "number" || typeof hash !== "string" || typeof atMs !== "number") return undefined;
    const checkpoint = { seq, hash, atMs };
    return seal === sealOf(checkpoint, key) ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where nothing was ever removed. */
export async function readCheckpoint(db: Kysely<StateTables>): Promise<string | undefined> {
  const row = await db.selectFrom("meta").select("value").where("key", "=", checkpointKey).executeTakeFirst();
  return row?.value;
}

function sealOf({ seq, hash, atMs }: AuditCheckpoint, key: Uint8Array): string {
  return createHmac("sha256", key).update(`checkpoint ${seq} ${hash} ${atMs}`).digest("hex");
}
