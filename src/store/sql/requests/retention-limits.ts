/** How long records are kept. */
export interface RetentionLimits {
  /** Newest calls of an instance whose arguments and result are kept. */
  readonly bodies: number;
  readonly bodyMs: number;
  readonly requests: number;
  readonly requestMs: number;
  /** Newest lines of an instance. */
  readonly logLines: number;
  readonly logMs: number;
  readonly usageMs: number;
  readonly eventMs: number;
  /** Of what finding tools saved, by session. */
  readonly sessionMs: number;
  /** Of entries of the audit; infinite where none is ever removed. */
  readonly auditMs: number;
}

const dayMs = 24 * 3_600_000;

export const defaultRetention: RetentionLimits = {
  bodies: 100,
  bodyMs: 7 * dayMs,
  requests: 5_000_000,
  requestMs: 30 * dayMs,
  logLines: 100,
  logMs: 7 * dayMs,
  usageMs: 400 * dayMs,
  eventMs: 7 * dayMs,
  sessionMs: 30 * dayMs,
  auditMs: Number.POSITIVE_INFINITY,
};
