import type { Config } from "../config/config.ts";
import type { RecordsOptions } from "../store/store.ts";

/** How long records are kept. */
export type Keeping = Pick<RecordsOptions, "keepMs" | "keepCalls" | "keepAuditMs">;

const dayMs = 24 * 3_600_000;

/** As the configuration says it. */
export function keepingOf(settings: Config["settings"]["records"]): Keeping {
  const { keepDays, keepCalls, keepAuditDays } = settings;
  const keepAuditMs = keepAuditDays === 0 ? Number.POSITIVE_INFINITY : keepAuditDays * dayMs;
  return { keepMs: keepDays * dayMs, keepCalls, keepAuditMs };
}
