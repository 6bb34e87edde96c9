/**
 * Limits of a schema and its checks. Beyond any of them a tool goes unchecked; a call is never refused because of
 * one.
 */
export interface ValidationLimits {
  /** JSON text of one schema. The largest of 1,478 real tools has 60 KB. */
  readonly schemaBytes: number;
  /** Levels of nesting of one schema: the same as for incoming messages. */
  readonly schemaDepth: number;
  /** Code of one compiled validator. V8 parses it on the main thread, 1 MB in about 5 ms. */
  readonly codeBytes: number;
  /** Compiled validators that are kept. Those that are not used are dropped first. */
  readonly validators: number;
  /** Code, or functions, of all validators, because a few large ones take as much memory as a thousand small ones. */
  readonly totalCodeBytes: number;
  /** Schemas that wait for the worker. Further ones go unchecked until they are requested again. */
  readonly queue: number;
  /** Time for one compilation, after which the worker is ended. */
  readonly compileTimeoutMs: number;
  /** Time for the worker to start, after which it is given up. */
  readonly startTimeoutMs: number;
  /** Time after which an idle worker ends: it takes about 11 MB. */
  readonly workerIdleMs: number;
  /** Heap of the worker. A schema that needs more ends it. */
  readonly workerHeapMb: number;
  /** Time for one check on the main thread, after which the value counts as unchecked. */
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
