import { digestOf, type ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { choosingValues } from "../../../catalog/model/effects.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { toCallArguments, type CallArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, ToolPath } from "../../../kernel/ids.ts";
import type { SharedTasks } from "../shared-tasks.ts";
import { requireScope, scopeOf } from "../../policy/scopes.ts";
import { decideCall, hasRules, isOffered, type Deciding, type Policy } from "../../policy/decide.ts";
import type { Gate } from "../stages.ts";
import type { Work } from "../work.ts";

/** A call of a tool, whichever intent it is. */
export interface CalledTool {
  readonly instance: InstanceId;
  readonly tool: ToolEntry;
  readonly given: CallArguments;
}

/**
 * The call that an intent is; undefined for all others. An endpoint of one server passes calls of tools on that are in
 * no list yet: of these, name and arguments are all that is known, and they are judged by them.
 */
export function calledTool(intent: Intent, { request }: Pick<Work, "request">): CalledTool | undefined {
  if (intent.kind === "call") return { instance: intent.instance, tool: intent.tool, given: intent.arguments };
  if (intent.kind !== "forward" || request?.method !== "tools/call") return undefined;
  const { slug, instance } = intent.server;
  const name = String(request.params["name"]);
  const given = toCallArguments(request.paramBytes("arguments"));
  const properties = Object.fromEntries(choosingValues(given.value).map(([key, values]) => [key, { enum: values }]));
  const definition = { name, inputSchema: { type: "object", properties } };
  const tool = { server: slug, upstreamName: name, path: `${slug}:${name}` as ToolPath, definition };
  return { instance, tool: { ...tool, hash: digestOf(definition) }, given };
}

/**
 * Refuses what the credential does not permit, and a call that the configuration does not allow, before anything of it
 * is done. Throws SCOPE_INSUFFICIENT, POLICY_DENIED, and PARAMS_INVALID for somebody else's task.
 */
export function createPolicyStage(
  { instanceOf, policy }: PolicyStageDeps,
  sharedTasks: Pick<SharedTasks, "check">,
): Gate {
  return (intent, work) => {
    const { context } = work;
    requireScope(context.principal, scopeOf(intent));
    const called = calledTool(intent, work);
    const server = called && instanceOf(called.instance)?.server;
    if (called !== undefined && server !== undefined)
      requireAllowed(called, { server, policy: policy(), principal: context.principal });
    return intent.kind === "call" ? undefined : sharedTasks.check(intent, work);
  };
}

export interface PolicyStageDeps {
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  readonly policy: () => Policy;
}

function requireAllowed({ tool, given }: CalledTool, deciding: Deciding): void {
  if (!isOffered(tool, deciding))
    throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration`);
  if (!hasRules(deciding)) return;
  const { verdict, rule } = decideCall(tool, deciding, () => given.value);
  if (verdict === "deny")
    throw new GatewayError("POLICY_DENIED", `this call of ${tool.path} is not allowed by the configuration (${rule})`);
}
