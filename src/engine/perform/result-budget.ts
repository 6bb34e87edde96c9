import type { Intent } from "../../catalog/exposure/intent.ts";
import type { Outcome } from "./outcome.ts";
import type { Work } from "./work.ts";

/**
 * Where an answer that is larger than a model should read is made smaller: after the run, so that every front gives
 * out the same, and before the record ends, so that it tells what was given out. An outcome within the budget is
 * given back as it came.
 */
export type ResultBudgetStage = (intent: Intent, work: Work, outcome: Outcome) => Outcome | Promise<Outcome>;
