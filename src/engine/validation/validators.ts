import { abortReason, untilAborted } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { workerUrl } from "../../kernel/runtime/worker-file.ts";
import { createCompiler, type CompileOutcome } from "./compile/compiler.ts";
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
   * Whether a value fits all that a schema says without the compiler, which is still to come: then nobody has to wait
   * for the verdict, and the schema is compiled soon. False where it does not fit, or the compiler is not needed.
   */
  fitsMeanwhile(hash: string, schema: JsonObject, value: unknown): boolean;
  forget(hash: string): void;
  /** Number of verdicts that are kept. */
  readonly size: number;
  /** Whether schemas wait for the worker, which compiles one after the other. */
  readonly isCompiling: boolean;
}

/**
 * How long a schema that nobody waits for is kept from the compiler: starting that takes 70 ms of CPU time, which on a
 * machine with one processor would be taken from the call that made it necessary.
 */
const unhurriedMs = 50;

/** A schema that is, or soon will be, with the compiler. */
interface Pending {
  readonly promise: Promise<Verdict>;
  /** Whoever waits for it lets it begin. */
  begin(): void;
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

/** What the functions take that a schema becomes without a compiler, for each character of its JSON. */
const bytesPerCharacter = 12;

/** What a schema takes that became functions without the compiler, about. */
export function bytesOfPlain(schema: JsonObject): number {
  return bytesPerCharacter * JSON.stringify(schema).length;
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

  function share(hash: string, schema: JsonObject): Pending {
    const text = schemaText(schema, limits);
    const run = async () => await compile(hash, text).finally(() => pending.delete(hash));
    const one = createPending(run, () => (text === undefined ? undefined : toPartialValidator(schema, runtime)));
    pending.set(hash, one);
    return one;
  }

  /** The verdict where it is known, or takes no compiler. */
  function verdictNow(hash: string, schema: JsonObject): Verdict | undefined {
    const known = cache.get(hash);
    if (known !== undefined || pending.has(hash)) return known;
    const plain = toPlainValidator(schema, runtime);
    if (plain !== undefined) cache.set(hash, plain, bytesOfPlain(schema));
    return plain;
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
      const now = verdictNow(hash, schema);
      if (now !== undefined) return now;
      const one = pending.get(hash) ?? share(hash, schema);
      one.begin();
      return await untilAborted(one.promise, signal);
    },
    fitsMeanwhile(hash, schema, value) {
      if (verdictNow(hash, schema) !== undefined) return false;
      const isNew = !pending.has(hash);
      const one = pending.get(hash) ?? share(hash, schema);
      if (isNew) options.clock.after(unhurriedMs, one.begin);
      const partial = one.partial();
      return partial !== undefined && partial.check(value) === undefined;
    },
    forget: (hash) => cache.delete(hash),
    async [Symbol.asyncDispose]() {
      for (const { begin } of pending.values()) begin();
      await compiler[Symbol.asyncDispose]();
      cache.clear();
    },
  };
}

/** Reads a schema only when somebody asks what it says without the compiler. */
function createPending(run: () => Promise<Verdict>, readPartial: () => Validator | undefined): Pending {
  let begin = (): void => undefined;
  const promise = new Promise<void>((resolve) => (begin = resolve)).then(run);
  // Told to those who wait for it, who may be nobody.
  promise.catch(() => undefined);
  let partial: Validator | undefined;
  let isRead = false;
  return {
    promise,
    begin,
    partial() {
      if (!isRead) partial = readPartial();
      isRead = true;
      return partial;
    },
  };
}
