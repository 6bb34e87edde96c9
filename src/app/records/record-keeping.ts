import type { Config } from "../../config/config.ts";
import type { RecordsOptions } from "../../store/store.ts";

/** Where records are kept, and how long. */
export type Keeping = Pick<RecordsOptions, "keepMs" | "keepCalls" | "keepAuditMs" | "database">;

const dayMs = 24 * 3_600_000;

/** As the configuration says it. */
export function keepingOf({ records, database }: Pick<Config["settings"], "records" | "database">): Keeping {
  const { keepDays, keepCalls, keepAuditDays } = records;
  const keepAuditMs = keepAuditDays === 0 ? Number.POSITIVE_INFINITY : keepAuditDays * dayMs;
  return { keepMs: keepDays * dayMs, keepCalls, keepAuditMs, database };
}
