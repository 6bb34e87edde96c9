import type { Gate } from "./gate.ts";

/** Where a record of an intent is opened: after everything that could refuse it, so that what is open is being run. */
export type RecordStartStage = Gate;
