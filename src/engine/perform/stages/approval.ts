import type { Gate } from "./gate.ts";

/**
 * Asks a person to approve a call. Runs after policy, so that no one is asked about a forbidden call, and before the
 * record begins, so that the person's time does not count as the server's. Rejects when the answer is no.
 */
export type ApprovalStage = Gate;
