import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { ServerConfig } from "../../../config/config.ts";
import { isAsGood } from "../../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Approve } from "../../approvals/approver.ts";
import { checkArguments } from "../../calls/arguments/arguments.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { decideCall, type Decision, type Policy } from "../../policy/decide.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Validators } from "../../validation/validators.ts";
import type { ApprovalStage } from "../stages.ts";
import { calledTool, type CalledTool } from "./policy.ts";

export interface ApprovalStageDeps {
  readonly instanceOf: (id: InstanceId) => { readonly server: ServerConfig } | undefined;
  /** The tools of an instance as they are listed now. */
  readonly toolsOf: (id: InstanceId) => readonly ToolEntry[] | undefined;
  /** The same object until the configuration changes. */
  readonly policy: () => Policy;
  /** Whether something was taken from somebody since the call began. */
  readonly isGone: (principal: Principal) => boolean;
  /** By what arguments are checked. */
  readonly validators: Validators;
  /** Loads the code with the first call that needs a yes. */
  readonly approver: () => Promise<Approve>;
}

/**
 * Holds calls up that the policy asks about. Every other one passes without a promise. Throws ARGUMENTS_INVALID for a
 * call that would be refused after the yes.
 */
export function createApprovalStage(deps: ApprovalStageDeps): ApprovalStage {
  const { instanceOf, policy, validators, approver } = deps;
  return (intent, work) => {
    const called = calledTool(intent, work);
    const server = called && instanceOf(called.instance)?.server;
    if (called === undefined || server === undefined) return undefined;
    const deciding = { server, policy: policy(), principal: work.context.principal };
    const decided = decideCall(called.tool, deciding, () => called.given.value);
    const decision = withDoubts(decided, work.context.doubts);
    if (decision.verdict !== "ask") return undefined;
    if (intent.kind === "call" && work.context.transparent !== true)
      checkArguments(validators, intent.tool, intent.arguments);
    return approver().then(async (approve) => {
      await approve({ ...called, decision, context: work.context });
      requireUnchanged(deps, called, { principal: work.context.principal, before: decision });
      work.context.isApproved = true;
    });
  };
}

/** What the call itself gives reason to ask about is asked about, whatever its tool does, unless it is denied. */
function withDoubts(decided: Decision, doubts: CallContext["doubts"]): Decision {
  if (doubts === undefined || decided.verdict === "deny") return decided;
  const because = [decided.because, ...doubts.map((doubt) => doubt.because)].join("; ");
  return { ...decided, verdict: "ask", because };
}

interface Asked {
  readonly principal: Principal;
  readonly before: Decision;
}

/**
 * A person may have taken minutes: the yes is for the tool that was asked about, under the rules of now, and of
 * somebody who may say it by them.
 */
function requireUnchanged(
  { instanceOf, toolsOf, policy, isGone }: ApprovalStageDeps,
  { instance, tool, given }: CalledTool,
  { principal, before }: Asked,
): void {
  if (isGone(principal)) throw new GatewayError("UNAUTHORIZED", "the credential is no longer valid");
  const server = instanceOf(instance)?.server;
  const now = toolsOf(instance)?.find(({ upstreamName }) => upstreamName === tool.upstreamName);
  const decision = server && decideCall(tool, { server, policy: policy(), principal }, () => given.value);
  if (decision === undefined || decision.verdict === "deny")
    throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration any more`);
  if (decision.verdict === "ask" && !isAsGood(before.approver, decision.approver))
    throw new GatewayError("APPROVAL_NEEDED", `the rules for ${tool.path} have changed while its call waited`, {
      hint: "Make the call again: somebody else has to say yes to it now.",
    });
  if (now !== undefined && now.hash !== tool.hash)
    throw new GatewayError("APPROVAL_NEEDED", `${tool.path} has changed while its call waited for a person's yes`, {
      hint: "Make the call again: the person is asked about the tool as it is now.",
    });
}
