import type { Intent } from "../../../catalog/exposure/intent.ts";
import type { ServerConfig } from "../../../config/config.ts";
import type { FlowRule } from "../../../config/rows/tool-rows.ts";
import type { ToolEffect } from "../../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { FlowLabels } from "../../flows/flow-labels.ts";
import { decideCall, type Policy } from "../../policy/decide.ts";
import type { PassingChecks } from "../stages.ts";
import type { Work } from "../work.ts";
import { calledTool } from "./policy.ts";
import { instanceOf } from "./request-facts.ts";

export interface FlowChecksDeps {
  readonly labels: FlowLabels;
  readonly rules: readonly FlowRule[];
  readonly policy: () => Policy;
  readonly serverOf: (id: InstanceId) => ServerConfig | undefined;
}

/** Tools that may return what somebody else wrote; one that only changes something returns its own words. */
const reading: readonly ToolEffect[] = ["read", "unknown", "run"];

/**
 * Labels what clients read, and holds up their calls by the rules. Throws POLICY_DENIED where a rule says so; otherwise
 * the call asks, and the question says where its client has read before.
 */
export function createFlowChecks({ labels, rules, policy, serverOf }: FlowChecksDeps): Omit<PassingChecks, "opening"> {
  function effectOf(intent: Intent, work: Work): ToolEffect | undefined {
    const called = calledTool(intent, work);
    const server = called && serverOf(called.instance);
    if (called === undefined || server === undefined) return undefined;
    return decideCall(
      called.tool,
      { server, policy: policy(), principal: work.context.principal },
      () => called.given.value,
    ).effect;
  }

  /** Whether what comes back may be texts or data of the server: a resource, a prompt, or a result of such a tool. */
  function isRead(intent: Intent, work: Work): boolean {
    if (intent.kind === "read" || intent.kind === "prompt") return true;
    const effect = effectOf(intent, work);
    if (effect !== undefined) return reading.includes(effect);
    return intent.kind === "forward" && ["resources/read", "prompts/get"].includes(work.request?.method ?? "");
  }

  return {
    within: (_intent, work) => work,
    gates: [
      (intent, work) => {
        const { context } = work;
        const effect = effectOf(intent, work);
        if (effect === undefined) return undefined;
        const applying = labels.applying(context, effect, rules);
        const [denied] = applying.filter(([rule]) => rule.then === "deny");
        if (denied !== undefined)
          throw new GatewayError("POLICY_DENIED", `what does ${effect} is not allowed ${denied[1]} (policy.flows)`);
        const doubts = applying.map(([rule, because]) => ({ kind: `after ${rule.after}`, because }));
        if (doubts.length > 0) context.doubts = [...(context.doubts ?? []), ...doubts];
        return undefined;
      },
    ],
    after(intent, work, outcome) {
      if (outcome.kind !== "result" && outcome.kind !== "error") return outcome;
      if (intent.kind !== "call" && intent.kind !== "read" && intent.kind !== "prompt" && intent.kind !== "forward")
        return outcome;
      const server = serverOf(instanceOf(intent));
      if (server !== undefined && server.content.length > 0 && isRead(intent, work))
        labels.note(work.context, server.content, server.slug);
      return outcome;
    },
  };
}
