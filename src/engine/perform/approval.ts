import type { Gate } from "./gate.ts";

/**
 * Where a person is asked for a yes: after policy, so that nobody is asked for what is forbidden anyway, and before
 * the record begins, so that the time a person takes is not the server's. Rejects when the answer is no.
 */
export type ApprovalStage = Gate;
