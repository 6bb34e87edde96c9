import type { Instance } from "../../../servers/instance/instance.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import type { SharedTasks } from "../shared-tasks.ts";
import { requireScope, scopeOf } from "../../policy/scopes.ts";
import { mayUse } from "../../policy/tool-rules.ts";
import type { Gate } from "../stages.ts";

/**
 * Refuses what the credential does not permit, and a call that the configuration does not allow, before anything of it
 * is done. Throws SCOPE_INSUFFICIENT, POLICY_DENIED, and PARAMS_INVALID for somebody else's task.
 */
export function createPolicyStage(
  instanceOf: (id: InstanceId) => Instance | undefined,
  sharedTasks: Pick<SharedTasks, "check">,
): Gate {
  return (intent, work) => {
    const { context } = work;
    requireScope(context.principal, scopeOf(intent));
    if (intent.kind !== "call") return sharedTasks.check(intent, work);
    const { tool } = intent;
    const rules = instanceOf(intent.instance)?.server.tools;
    if (rules !== undefined && !mayUse(context.principal, { rules, tool: tool.upstreamName }))
      throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration`);
    return undefined;
  };
}
