import { abortReason, untilAborted } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import { workerUrl } from "../../kernel/worker-file.ts";
import { createCompiler, type CompileOutcome } from "./compiler.ts";
import { defaultValidationLimits, type ValidationLimits } from "./schema-limits.ts";
import { createRuntime } from "./runtime.ts";
import { schemaText } from "./schema-text.ts";
import { createValidatorCache, type Verdict } from "./validator-cache.ts";
import { instantiate, toPartialValidator, toPlainValidator, type Validator } from "./validator.ts";

/**
 * Checks arguments and results against the JSON Schemas of tools. Plain schemas are checked as they stand. For the
 * others the main thread neither loads Ajv nor compiles: a worker turns each schema into code once, and then a check is
 * a synchronous call. Whatever a schema contains, the worst that can happen is that its values go unchecked.
 */
export interface Validators extends AsyncDisposable {
  /** The current verdict. Undefined when the schema has not been prepared, or was evicted. */
  lookup(hash: string): Verdict | undefined;
  /**
   * Compiles the schema unless that was done or is not needed; any number of callers share one compilation, which goes
   * on when they give up.
   *
   * @param hash changes with the schema's text; a tool's two schemas need two
   * @throws the signal's reason; GatewayError DRAINING after disposal
   */
  prepare(hash: string, schema: JsonObject, signal: AbortSignal): Promise<Verdict>;
  /**
   * Whether a value fits all that its schema says without the compiler, while that is at work on it: then there is no
   * verdict yet, and nobody has to wait for one. False when it does not fit, or when nothing is being compiled.
   */
  fitsMeanwhile(hash: string, value: unknown): boolean;
  forget(hash: string): void;
  /** Number of verdicts that are kept. */
  readonly size: number;
  /** Whether schemas wait for the worker, which compiles one after the other. */
  readonly isCompiling: boolean;
}

/** A schema that is with the compiler. */
interface Pending {
  readonly promise: Promise<Verdict>;
  /** Made when it is first asked for; undefined where a schema cannot be read without the compiler. */
  partial(): Validator | undefined;
}

export interface ValidatorsOptions {
  readonly clock: Clock;
  readonly limits?: Partial<ValidationLimits>;
  /** Called with the reason why a schema is not checked. */
  readonly onUnvalidated?: (hash: string, reason: string) => void;
  /** Entry file of the compile worker. Tests may pass another. */
  readonly workerFile?: URL;
}

export function createValidators(options: ValidatorsOptions): Validators {
  const limits: ValidationLimits = { ...defaultValidationLimits, ...options.limits };
  const workerFile = options.workerFile ?? workerUrl(import.meta.url, "compile-worker");
  const compiler = createCompiler({ clock: options.clock, limits, workerFile });
  const runtime = createRuntime(() => options.clock.monotonic(), limits.checkMs);
  const cache = createValidatorCache(limits);
  let isOut = false;
  const pending = new Map<string, Pending>();

  async function compile(hash: string, text: string | undefined): Promise<Verdict> {
    const outcome: CompileOutcome =
      text === undefined
        ? { kind: "unvalidated", reason: "the schema is too large or too deep" }
        : await compiler.compile(text);
    const wasOut = isOut;
    isOut = outcome.kind === "unavailable";
    if (outcome.kind === "code") return keep(hash, outcome.code);
    // While there is no worker, starting it is tried at every call, but reported only once.
    if (!(isOut && wasOut)) options.onUnvalidated?.(hash, outcome.reason);
    if (outcome.kind === "unvalidated") cache.set(hash, "unvalidated", 0);
    return "unvalidated";
  }

  function keep(hash: string, code: string): Verdict {
    let verdict: Verdict;
    try {
      verdict = instantiate(code, runtime);
    } catch (error) {
      options.onUnvalidated?.(hash, error instanceof Error ? error.message : String(error));
      verdict = "unvalidated";
    }
    cache.set(hash, verdict, code.length);
    return verdict;
  }

  function share(hash: string, schema: JsonObject): Promise<Verdict> {
    const text = schemaText(schema, limits);
    const promise = compile(hash, text).finally(() => pending.delete(hash));
    let partial: Validator | undefined;
    let isRead = text === undefined;
    pending.set(hash, {
      promise,
      partial() {
        if (!isRead) partial = toPartialValidator(schema, runtime);
        isRead = true;
        return partial;
      },
    });
    return promise;
  }

  return {
    get size() {
      return cache.size;
    },
    get isCompiling() {
      return pending.size > 0;
    },
    lookup: (hash) => cache.get(hash),
    async prepare(hash, schema, signal) {
      const known = cache.get(hash);
      if (known !== undefined) return known;
      if (signal.aborted) throw abortReason(signal);
      const plain = pending.has(hash) ? undefined : toPlainValidator(schema, runtime);
      if (plain !== undefined) {
        cache.set(hash, plain, 0);
        return plain;
      }
      return await untilAborted(pending.get(hash)?.promise ?? share(hash, schema), signal);
    },
    fitsMeanwhile(hash, value) {
      const partial = pending.get(hash)?.partial();
      return partial !== undefined && partial.check(value) === undefined;
    },
    forget: (hash) => cache.delete(hash),
    async [Symbol.asyncDispose]() {
      await compiler[Symbol.asyncDispose]();
      cache.clear();
    },
  };
}
