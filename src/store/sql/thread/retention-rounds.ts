import type { AuditChain } from "../state/audit.ts";
import { auditStep, retentionSteps, type RetainedRecords, type RetentionStep } from "../records/retention.ts";
import type { RetentionLimits } from "../requests/retention-limits.ts";

export interface RoundParts {
  readonly limits: RetentionLimits;
  /** Undefined while it cannot be used. */
  readonly records: () => RetainedRecords | undefined;
  /** Undefined while it cannot be used. */
  readonly chain: () => AuditChain | undefined;
  /** Whether no one reads the chain as a whole just now. */
  readonly isFree: () => boolean;
}

/**
 * Deletes one piece of the rows that are too old at each call. False when there is nothing more, until the next round.
 */
export function createRetentionRounds({ limits, records, chain, isFree }: RoundParts): () => Promise<boolean> {
  let round: RetentionStep[] | undefined;

  function begin(): RetentionStep[] {
    const nowMs = Date.now();
    const [kept, audit] = [records(), chain()];
    return [
      ...(kept === undefined ? [] : retentionSteps(kept, limits, nowMs)),
      ...(audit === undefined ? [] : [auditStep(audit, { auditMs: limits.auditMs, nowMs, isFree })]),
    ];
  }

  return async () => {
    round ??= begin();
    const [step] = round;
    try {
      if (step !== undefined && !(await step())) round.shift();
    } catch (error) {
      // The next round begins with the databases as they are then.
      round = undefined;
      throw error;
    }
    if (round.length > 0) return true;
    round = undefined;
    return false;
  };
}
