import type { Gate } from "./gate.ts";

/**
 * Opens the record of an intent. Runs after every stage that could refuse the intent, so that every open record
 * belongs to something that is being run.
 */
export type RecordStartStage = Gate;
