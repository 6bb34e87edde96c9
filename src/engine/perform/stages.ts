import type { Intent } from "../../catalog/exposure/intent.ts";
import type { Clock } from "../../kernel/clock.ts";
import { toGatewayError } from "../../kernel/gateway-error.ts";
import type { ApprovalStage } from "./approval.ts";
import type { Gate } from "./gate.ts";
import type { Outcome } from "./outcome.ts";
import type { RecordEndStage } from "./record-end.ts";
import type { RecordStartStage } from "./record-start.ts";
import type { ResultBudgetStage } from "./result-budget.ts";
import type { RunStage } from "./run.ts";
import type { Work } from "./work.ts";

/** The stages in the order in which an intent passes them. One that is absent is off, and costs nothing. */
export interface Stages {
  readonly policy: Gate;
  readonly approval?: ApprovalStage;
  readonly recordStart?: RecordStartStage;
  readonly run: RunStage;
  readonly resultBudget?: ResultBudgetStage;
  /** Is told of every end: an outcome, or what stopped the intent at whichever stage. */
  readonly recordEnd: RecordEndStage;
}

/** An intent on its way through all stages. Never throws; rejects with what stopped it. */
export type Passage = (intent: Intent, work: Work) => Promise<Outcome>;

/**
 * Puts the stages together, once. A call passes them without a promise more than its run has: the stages that are off
 * are not in the list, and one that has nothing to wait for is not waited for.
 */
export function composeStages(stages: Stages, clock: Pick<Clock, "monotonic">): Passage {
  const { run, resultBudget, recordEnd } = stages;
  const gates = [stages.policy, stages.approval, stages.recordStart].filter((gate) => gate !== undefined);
  const fit: ResultBudgetStage = resultBudget ?? ((_intent, _work, outcome) => outcome);

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
