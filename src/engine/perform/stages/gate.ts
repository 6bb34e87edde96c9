import type { Intent } from "../../../catalog/exposure/intent.ts";
import type { Work } from "../work.ts";

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
