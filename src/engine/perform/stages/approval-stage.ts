import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { ServerConfig } from "../../../config/config.ts";
import type { ToolEffect } from "../../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { Approve } from "../../approvals/approver.ts";
import { checkArguments } from "../../calls/arguments/arguments.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { decideCall, type Decision } from "../../policy/decide.ts";
import type { Validators } from "../../validation/validators.ts";
import type { ApprovalStage } from "../stages.ts";
import { calledTool, type CalledTool } from "./policy.ts";

export interface ApprovalStageDeps {
  readonly instanceOf: (id: InstanceId) => { readonly server: ServerConfig } | undefined;
  /** The tools of an instance as they are listed now. */
  readonly toolsOf: (id: InstanceId) => readonly ToolEntry[] | undefined;
  /** Effects that are asked about: the same list until the configuration changes. */
  readonly asked: () => readonly ToolEffect[];
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
  const { instanceOf, asked, validators, approver } = deps;
  return (intent, work) => {
    const called = calledTool(intent, work);
    const server = called && instanceOf(called.instance)?.server;
    if (called === undefined || server === undefined) return undefined;
    const decided = decideCall(called.tool, server, { asked: asked(), given: () => called.given.value });
    const decision = withDoubts(decided, work.context.doubts);
    if (decision.verdict !== "ask") return undefined;
    if (intent.kind === "call" && work.context.transparent !== true)
      checkArguments(validators, intent.tool, intent.arguments);
    return approver().then(async (approve) => {
      await approve({ ...called, decision, context: work.context });
      requireUnchanged(deps, called);
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

/** A person may have taken minutes: the yes is for the tool that was asked about, under the rules of now. */
function requireUnchanged(
  { instanceOf, toolsOf, asked }: ApprovalStageDeps,
  { instance, tool, given }: CalledTool,
): void {
  const server = instanceOf(instance)?.server;
  const now = toolsOf(instance)?.find(({ upstreamName }) => upstreamName === tool.upstreamName);
  const decision = server && decideCall(tool, server, { asked: asked(), given: () => given.value });
  if (decision === undefined || decision.verdict === "deny")
    throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration any more`);
  if (now !== undefined && now.hash !== tool.hash)
    throw new GatewayError("APPROVAL_NEEDED", `${tool.path} has changed while its call waited for a person's yes`, {
      hint: "Make the call again: the person is asked about the tool as it is now.",
    });
}
