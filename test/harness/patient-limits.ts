/** Of validators, for tests of what is said of a value: on a busy machine, a check may take any time. */
export const patientLimits = { checkMs: 60_000 } as const;
