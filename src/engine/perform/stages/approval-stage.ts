import type { ServerConfig } from "../../../config/config.ts";
import type { ToolEffect } from "../../../kernel/call/tool-effects.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Approve } from "../../approvals/approver.ts";
import { decideCall } from "../../policy/decide.ts";
import type { ApprovalStage } from "../stages.ts";

export interface ApprovalStageDeps {
  readonly instanceOf: (id: InstanceId) => { readonly server: ServerConfig } | undefined;
  /** Effects that are asked about: the same list until the configuration changes. */
  readonly asked: () => readonly ToolEffect[];
  /** Loads the code with the first call that needs a yes. */
  readonly approver: () => Promise<Approve>;
}

/** Holds calls up that the policy asks about. Every other one passes without a promise. */
export function createApprovalStage({ instanceOf, asked, approver }: ApprovalStageDeps): ApprovalStage {
  return (intent, { context }) => {
    if (intent.kind !== "call") return undefined;
    const server = instanceOf(intent.instance)?.server;
    if (server === undefined) return undefined;
    const { tool, instance, arguments: given } = intent;
    const decision = decideCall(tool, server, { asked: asked(), given: () => given.value });
    if (decision.verdict !== "ask") return undefined;
    return approver().then(async (approve) => await approve({ tool, instance, given, decision, context }));
  };
}
