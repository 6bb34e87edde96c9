import type { Intent } from "../../catalog/exposure/intent.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ApprovalStage, Gate } from "./stages/gate.ts";
import type { Outcome } from "./outcome.ts";
import type { RecordEnd } from "./stages/record-end.ts";
import type { RecordStartStage } from "./stages/record-start.ts";
import type { ResultBudgetStage } from "./result-budget.ts";
import type { RunStage } from "./run.ts";
import type { Work } from "./work.ts";

/** The stages, in the order in which an intent passes them. A stage that is absent costs nothing. */
export interface Stages {
  readonly policy: Gate;
  readonly approval?: ApprovalStage;
  readonly recordStart?: RecordStartStage;
  readonly run: RunStage;
  /** Fits the outcome to the caller's budget. */
  readonly fit: ResultBudgetStage;
  /** Called for every intent at its end, with its outcome or with the error that stopped it at any stage. */
  readonly recordEnd: RecordEnd["ended"];
}

/** Takes an intent through all stages. Never throws; rejects with the error that stopped the intent. */
export type Passage = (intent: Intent, work: Work) => Promise<Outcome>;

/**
 * Combines the stages, once. A call needs no more promises than its run has: absent stages are not in the list, and a
 * stage that returns no promise is not awaited.
 */
export function composeStages(stages: Stages, clock: Pick<Clock, "monotonic">): Passage {
  const { run, fit, recordEnd } = stages;
  const gates = [stages.policy, stages.approval, stages.recordStart].filter((gate) => gate !== undefined);

  function passFrom(first: number, intent: Intent, work: Work): Promise<Outcome> {
    for (let at = first; at < gates.length; at += 1) {
      const waiting = gates[at]?.(intent, work);
      if (waiting !== undefined) return waiting.then(() => passFrom(at + 1, intent, work));
    }
    return run(intent, work);
  }

  return (intent, work) => {
    const startedMs = clock.monotonic();
    let passing: Promise<Outcome>;
    try {
      passing = passFrom(0, intent, work);
    } catch (error) {
      passing = Promise.reject(toGatewayError(error));
    }
    function fail(error: unknown): never {
      recordEnd(intent, work, startedMs, toGatewayError(error));
      throw error;
    }
    function end(outcome: Outcome): Outcome {
      recordEnd(intent, work, startedMs, outcome);
      return outcome;
    }
    return passing.then((outcome) => {
      const fitted = fit(intent, work, outcome);
      return fitted instanceof Promise ? fitted.then(end, fail) : end(fitted);
    }, fail);
  };
}
