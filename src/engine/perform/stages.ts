import type { Intent } from "../../catalog/exposure/intent.ts";
import type { Work, Outcome } from "./work.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { RecordEnd } from "./stages/record-end.ts";
import type { ResultBudgetStage } from "./result-budget.ts";
import type { RunStage } from "./run.ts";

/**
 * Opens the record of an intent. Runs after every stage that could refuse the intent, so that every open record
 * belongs to something that is being run.
 */
export type RecordStartStage = Gate;

/**
 * A stage before the run. It lets an intent pass by returning nothing, or a promise of nothing, and stops it by
 * throwing or rejecting.
 */
export type Gate = (intent: Intent, work: Work) => Promise<void> | undefined;

/**
 * Asks a person to approve a call. Runs after policy, so that no one is asked about a forbidden call, and before the
 * record begins, so that the person's time does not count as the server's. Rejects when the answer is no.
 */
export type ApprovalStage = Gate;

/** Checks of what goes to servers and comes back, which the configuration turns on. */
export interface PassingChecks {
  /** Loads the code of the checks; undefined once it is there. */
  readonly opening: () => Promise<void> | undefined;
  /** What the intent is carried out in: messages of the server on the way to the client pass the checks, too. */
  readonly within: (intent: Intent, work: Work) => Work;
  /** After the policy, before a person is asked. */
  readonly gates: readonly Gate[];
  /** After the run, before the outcome is fitted to its budget. */
  readonly after: (intent: Intent, work: Work, outcome: Outcome) => Outcome | Promise<Outcome>;
}

/** The stages, in the order in which an intent passes them. A stage that is absent costs nothing. */
export interface Stages {
  readonly policy: Gate;
  /** Absent where the configuration turns none on. */
  readonly checks?: PassingChecks | undefined;
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
  const { checks } = stages;
  const all = [stages.policy, ...(checks?.gates ?? []), stages.approval, stages.recordStart];
  const gates = all.filter((gate) => gate !== undefined);

  function runChecked(intent: Intent, work: Work): Promise<Outcome> {
    return checks === undefined
      ? run(intent, work)
      : run(intent, work).then((outcome) => checks.after(intent, work, outcome));
  }

  function passFrom(first: number, intent: Intent, work: Work): Promise<Outcome> {
    for (let at = first; at < gates.length; at += 1) {
      const waiting = gates[at]?.(intent, work);
      if (waiting !== undefined) return waiting.then(() => passFrom(at + 1, intent, work));
    }
    return runChecked(intent, work);
  }

  function pass(intent: Intent, given: Work): Promise<Outcome> {
    const work = checks === undefined ? given : checks.within(intent, given);
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
  }

  if (checks === undefined) return pass;
  return (intent, work) => {
    const opening = checks.opening();
    if (opening === undefined) return pass(intent, work);
    return opening.then(
      () => pass(intent, work),
      (error: unknown) => {
        recordEnd(intent, work, clock.monotonic(), toGatewayError(error));
        throw error;
      },
    );
  };
}
