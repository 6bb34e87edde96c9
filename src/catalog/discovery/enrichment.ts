import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { PhrasesOf } from "../search/phrase-book.ts";
import { createHourlyBudget } from "./hourly-budget.ts";
import { requestPhrases, UnusableAnswer, type ChatEndpoint, type WrittenAnswer } from "./phrase-request.ts";
import { createWaitingTools } from "./waiting-tools.ts";
import { createWorkPause } from "./work-pause.ts";
import { openWrittenPhrases, type PhraseStore } from "./written-phrases.ts";

/** A model on a laptop that reads a long description takes half a minute. */
const requestTimeoutMs = 60_000;
/** What an answer without phrases is taken to have cost: as much as a usual one. */
const uselessTokens = 1_000;
/** New phrases are indexed and kept when the last are there, or after this long: no index is made for a single tool. */
const freshAfterMs = 30_000;

export interface EnrichmentDeps {
  readonly endpoint: ChatEndpoint;
  readonly parallel: number;
  readonly toolsPerHour: number;
  readonly tokensPerHour: number;
  /** Whether nobody has written phrases for a tool. */
  readonly isWanting: (tool: ToolEntry) => boolean;
  readonly store: PhraseStore;
  readonly clock: Pick<Clock, "after" | "monotonic">;
  readonly log: Log;
}

/** For people who look: what was done and what is still to do. */
export interface EnrichmentState {
  readonly written: number;
  readonly waiting: number;
  /** Tools for which the model wrote nothing of use. */
  readonly givenUp: number;
  readonly tokensThisHour: number;
  readonly state: "idle" | "writing" | "waiting for the next hour" | "waiting after a failure";
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
  const budget = createHourlyBudget(deps, clock);
  const callbacks: ((hashes: ReadonlySet<string>) => void)[] = [];
  let lastFreshMs = clock.monotonic();
  const pause = createWorkPause(clock, pump);
  let state: EnrichmentState["state"] = "idle";

  function publish(): void {
    const hashes = written.saveFresh();
    if (hashes.size === 0) return;
    lastFreshMs = clock.monotonic();
    for (const callback of callbacks) callback(hashes);
  }

  function pump(): void {
    while (active.size < deps.parallel && waiting.size > 0 && !pause.isOn && !isStopped) {
      const waitMs = budget.waitMs();
      if (waitMs > 0) {
        state = "waiting for the next hour";
        pause.begin(waitMs);
        break;
      }
      const tool = waiting.take() as ToolEntry;
      const request = new AbortController();
      active.set(tool.hash, request);
      state = "writing";
      budget.begin();
      void write(deps, tool, request).then((outcome) => {
        active.delete(tool.hash);
        if (!isStopped) note(tool, outcome);
        pump();
        if (active.size === 0 && waiting.size === 0) state = "idle";
        if (active.size === 0 || clock.monotonic() - lastFreshMs >= freshAfterMs) publish();
      });
    }
  }

  function note(tool: ToolEntry, outcome: Outcome): void {
    budget.spend(outcome.tokens);
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
      log.warn({ component: "enrich", retryInMs, reason: outcome.reason }, "the chat endpoint does not answer");
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
    state: () => ({
      written: written.size,
      waiting: waiting.size + active.size,
      givenUp: waiting.givenUp,
      tokensThisHour: budget.spent(),
      state,
    }),
    [Symbol.dispose]() {
      isStopped = true;
      pause.cancel();
      for (const request of active.values()) request.abort();
      written.saveFresh();
    },
  };
}

type Outcome =
  | ({ readonly kind: "written" } & WrittenAnswer)
  | { readonly kind: "useless"; readonly tokens: number }
  | { readonly kind: "failed"; readonly tokens: 0; readonly reason: string };

/** Never rejects. */
async function write({ endpoint, clock }: EnrichmentDeps, tool: ToolEntry, request: AbortController): Promise<Outcome> {
  const late = () => request.abort(new DOMException(`no answer within ${requestTimeoutMs} ms`, "TimeoutError"));
  const cancelDeadline = clock.after(requestTimeoutMs, late);
  try {
    return { kind: "written", ...(await requestPhrases(endpoint, tool, request.signal)) };
  } catch (error) {
    // The model took its tokens all the same.
    if (error instanceof UnusableAnswer) return { kind: "useless", tokens: uselessTokens };
    return { kind: "failed", tokens: 0, reason: String(error) };
  } finally {
    cancelDeadline();
  }
}
