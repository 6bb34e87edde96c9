import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { Log } from "../../../kernel/runtime/log.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import type { PhrasesOf } from "../../search/language/phrase-book.ts";
import {
  createEnrichmentBudget,
  type BudgetWait,
  type EnrichmentBudget,
  type EnrichmentLimits,
  type SpendingRecord,
} from "./enrichment-budget.ts";
import { UnusableAnswer, type PhraseWriter, type SpentTokens, type WrittenAnswer } from "./phrase-writer.ts";
import { openWrittenPhrases, type PhraseStore, type WrittenPhrases, forgetOldest } from "./written-phrases.ts";

/** What an answer of which nothing is known is taken to have cost: more than a usual one. */
const unknownSpent: SpentTokens = Object.freeze({ prompt: 600, answer: 400, isReported: false });
/** New phrases are indexed and kept when the last are there, or after this long: no index is made for a single tool. */
const freshAfterMs = 30_000;

export interface EnrichmentDeps {
  readonly writer: PhraseWriter;
  readonly parallel: number;
  readonly limits: EnrichmentLimits;
  /** Whether a tool has no written phrases yet. */
  readonly isWanting: (tool: ToolEntry) => boolean;
  readonly store: PhraseStore;
  readonly clock: Pick<Clock, "after" | "monotonic">;
  readonly log: Log;
}

/** The state as people see it: the tools that are done and those that are still to do. */
export interface EnrichmentState {
  readonly written: number;
  readonly waiting: number;
  /** Tools for which the model wrote nothing of use. */
  readonly givenUp: number;
  readonly tokensThisHour: number;
  /** Since the first start. */
  readonly spent: SpendingRecord;
  readonly state:
    | "idle"
    | "writing"
    | `waiting for ${BudgetWait["until"]}`
    | "waiting after a failure"
    | "all tokens are spent";
}

/** Phrases that a model writes in the background, once per definition of a tool. */
export interface Enrichment extends Disposable {
  readonly phrasesOf: PhrasesOf;
  /** These tools, beside those named before, shall have phrases. */
  update(tools: readonly ToolEntry[]): void;
  /** Calls back with the hashes of tools that have new phrases. */
  onFresh(callback: (hashes: ReadonlySet<string>) => void): void;
  state(): EnrichmentState;
}

/** Reads what was written before, and asks for nothing until the first {@link Enrichment.update}. */
export async function createEnrichment(deps: EnrichmentDeps): Promise<Enrichment> {
  const { clock, log } = deps;
  let isStopped = false;
  const written = await openWrittenPhrases(deps.store);
  const waiting = createWaitingTools();
  /** Asked for right now. */
  const active = new Map<string, AbortController>();
  const budget = createEnrichmentBudget(deps.limits, written.spent, clock);
  const callbacks: ((hashes: ReadonlySet<string>) => void)[] = [];
  let lastFreshMs = clock.monotonic();
  const pause = createWorkPause(clock, pump);
  let state: EnrichmentState["state"] = "idle";

  function publish(): void {
    const hashes = written.saveFresh(budget.spending);
    if (hashes.size === 0) return;
    lastFreshMs = clock.monotonic();
    for (const callback of callbacks) callback(hashes);
  }

  function pump(): void {
    while (active.size < deps.parallel && waiting.size > 0 && mayBegin()) {
      const tool = waiting.take() as ToolEntry;
      const request = new AbortController();
      active.set(tool.hash, request);
      state = "writing";
      budget.begin();
      void write(deps, tool, request).then((outcome) => {
        active.delete(tool.hash);
        if (isStopped) return;
        note(tool, outcome);
        pump();
        if (active.size === 0 && waiting.size === 0) state = "idle";
        if (active.size === 0 || clock.monotonic() - lastFreshMs >= freshAfterMs) publish();
      });
    }
  }

  /** Whether a tool may be asked for now; if not, `state` says why. */
  function mayBegin(): boolean {
    if (pause.isOn || isStopped) return false;
    const obstacle = findObstacle(budget);
    if (obstacle === undefined) return true;
    state = obstacle.state;
    if (obstacle.ms !== undefined) pause.begin(obstacle.ms);
    return false;
  }

  function note(tool: ToolEntry, outcome: Outcome): void {
    budget.end(outcome.spent, outcome.kind !== "written");
    if (outcome.kind === "written") {
      pause.noteSuccess();
      written.add(tool.hash, outcome.phrases);
    } else if (outcome.kind === "useless") {
      waiting.tryAgain(tool);
    } else {
      waiting.add(tool);
      if (pause.isOn) return;
      state = "waiting after a failure";
      const retryInMs = pause.beginAfterFailure();
      log.warn(
        { component: "enrich", retryInMs, reason: outcome.reason },
        "the model that writes phrases does not answer",
      );
    }
  }

  return {
    phrasesOf: (tool) => written.get(tool.hash),
    update(tools) {
      for (const tool of tools) {
        if (!written.has(tool.hash) && !active.has(tool.hash) && deps.isWanting(tool)) waiting.add(tool);
      }
      pump();
    },
    onFresh: (callback) => void callbacks.push(callback),
    state: () => ({ ...countsOf(written, waiting, budget), waiting: waiting.size + active.size, state }),
    [Symbol.dispose]() {
      isStopped = true;
      pause.cancel();
      for (const request of active.values()) request.abort();
      written.saveFresh(budget.spending);
    },
  };
}

function countsOf(written: WrittenPhrases, waiting: WaitingTools, budget: EnrichmentBudget) {
  return {
    written: written.size,
    givenUp: waiting.givenUp,
    tokensThisHour: budget.tokensThisHour,
    spent: budget.spending,
  };
}

interface Obstacle {
  readonly state: EnrichmentState["state"];
  /** Undefined where time alone does not help. */
  readonly ms?: number;
}

/** What keeps the next tool from being asked for. */
function findObstacle(budget: EnrichmentBudget): Obstacle | undefined {
  const wait = budget.wait();
  if (wait === "spent") return { state: "all tokens are spent" };
  return wait === undefined ? undefined : { state: `waiting for ${wait.until}`, ms: wait.ms };
}

type Outcome =
  | ({ readonly kind: "written" } & WrittenAnswer)
  | { readonly kind: "useless"; readonly spent: SpentTokens }
  | { readonly kind: "failed"; readonly spent: undefined; readonly reason: string };

/** Never rejects. */
async function write({ writer, clock }: EnrichmentDeps, tool: ToolEntry, request: AbortController): Promise<Outcome> {
  const { deadlineMs } = writer;
  const late = () => request.abort(new DOMException(`no answer within ${deadlineMs} ms`, "TimeoutError"));
  const cancelDeadline = clock.after(deadlineMs, late);
  try {
    return { kind: "written", ...(await writer.write(tool, request.signal)) };
  } catch (error) {
    // The model took its tokens all the same.
    if (error instanceof UnusableAnswer) return { kind: "useless", spent: error.spent ?? unknownSpent };
    return { kind: "failed", spent: undefined, reason: String(error) };
  } finally {
    cancelDeadline();
  }
}

/** Answers without phrases, after which a tool is left alone until the next start. */
const attemptLimit = 3;

/** Tools that shall be asked for, the longest waiting first, each definition once. */
export interface WaitingTools {
  readonly size: number;
  /** Tools for which the model wrote nothing of use. */
  readonly givenUp: number;
  /** Unless it is given up. One that waits already waits as the newest, which is dropped last. */
  add(tool: ToolEntry): void;
  take(): ToolEntry | undefined;
  /** An answer was of no use. */
  tryAgain(tool: ToolEntry): void;
}

export function createWaitingTools(): WaitingTools {
  const waiting = new Map<string, ToolEntry>();
  const attempts = new Map<string, number>();
  const triesOf = (tool: ToolEntry): number => attempts.get(tool.hash) ?? 0;

  function add(tool: ToolEntry): void {
    if (triesOf(tool) >= attemptLimit) return;
    waiting.delete(tool.hash);
    waiting.set(tool.hash, tool);
    forgetOldest(waiting);
  }

  return {
    get size() {
      return waiting.size;
    },
    get givenUp() {
      return [...attempts.values()].filter((tries) => tries >= attemptLimit).length;
    },
    add,
    take() {
      const [next] = waiting.values();
      if (next !== undefined) waiting.delete(next.hash);
      return next;
    },
    tryAgain(tool) {
      attempts.set(tool.hash, triesOf(tool) + 1);
      forgetOldest(attempts);
      add(tool);
    },
  };
}

/** Wait after a failure, doubled up to the most. */
const backoffMs = Object.freeze({ first: 5_000, most: 15 * 60_000 });

/** One wait at a time of work in the background, and how long it waits after failures. */
export interface WorkPause {
  readonly isOn: boolean;
  /** Nothing when one is on already. */
  begin(forMs: number): void;
  /** Begins one after a failure and returns its length: longer with every failure until one has worked. */
  beginAfterFailure(): number;
  noteSuccess(): void;
  cancel(): void;
}

/** `resume` is called at the end of each pause that was not cancelled. */
export function createWorkPause(clock: Pick<Clock, "after">, resume: () => void): WorkPause {
  let delayMs = 0;
  let cancel: (() => void) | undefined;

  function begin(forMs: number): void {
    cancel ??= clock.after(forMs, () => {
      cancel = undefined;
      resume();
    });
  }

  return {
    get isOn() {
      return cancel !== undefined;
    },
    begin,
    beginAfterFailure() {
      delayMs = Math.min(backoffMs.most, Math.max(backoffMs.first, delayMs * 2));
      begin(delayMs);
      return delayMs;
    },
    noteSuccess: () => void (delayMs = 0),
    cancel() {
      cancel?.();
      cancel = undefined;
    },
  };
}
