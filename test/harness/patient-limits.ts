/** Of validators, for tests of what is said of a value: on a busy machine, a check or a worker may take any time. */
export const patientLimits = { compileTimeoutMs: 60_000, startTimeoutMs: 60_000, checkMs: 60_000 } as const;
