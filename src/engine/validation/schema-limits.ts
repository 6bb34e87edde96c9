/** What a schema and its check may cost. Beyond any of these a tool goes unchecked; a call is never refused for it. */
export interface ValidationLimits {
  /** JSON text of one schema. The largest of 1,478 real tools has 60 KB. */
  readonly schemaBytes: number;
  /** Levels of nesting of one schema; the same as for messages at the door. */
  readonly schemaDepth: number;
  /** Text of one compiled validator: V8 reads it on the main thread, 1 MB in about 5 ms. */
  readonly codeBytes: number;
  /** Compiled validators kept; the least used go first. */
  readonly validators: number;
  /** Text of all compiled validators kept, because a few large ones weigh as much as a thousand small ones. */
  readonly totalCodeBytes: number;
  /** Schemas that wait for the worker; more go unchecked until asked for again. */
  readonly queue: number;
  /** One compilation; after it the worker is ended. */
  readonly compileTimeoutMs: number;
  /** A worker that has not started by then is given up. */
  readonly startTimeoutMs: number;
  /** The worker costs about 25 MB while it lives. */
  readonly workerIdleMs: number;
  /** Heap of the worker; a schema that needs more ends it. */
  readonly workerHeapMb: number;
  /** One check on the main thread; after it the value counts as unchecked. */
  readonly checkMs: number;
}

export const defaultValidationLimits: ValidationLimits = Object.freeze({
  schemaBytes: 256 * 1024,
  schemaDepth: 64,
  codeBytes: 512 * 1024,
  validators: 2_000,
  totalCodeBytes: 16 * 1024 * 1024,
  queue: 1_000,
  compileTimeoutMs: 500,
  startTimeoutMs: 10_000,
  workerIdleMs: 30_000,
  workerHeapMb: 96,
  checkMs: 15,
});
