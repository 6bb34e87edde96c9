import { digestOf, type ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { choosingValues } from "../../../catalog/model/effects.ts";
import type { Instance } from "../../../servers/instance/instance.ts";
import { toCallArguments, type CallArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, ToolPath } from "../../../kernel/ids.ts";
import type { SharedTasks } from "../shared-tasks.ts";
import { requireScope, scopeOf } from "../../policy/scopes.ts";
import {
  decideCall,
  hasRules,
  isOffered,
  type Deciding,
  type DecidingServer,
  type Policy,
} from "../../policy/decide.ts";
import type { Profiles } from "../../policy/profiles.ts";
import { judgeReadOnly } from "../../policy/read-only.ts";
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
 * is done. Throws SCOPE_INSUFFICIENT, POLICY_DENIED, NOT_READ_ONLY, and PARAMS_INVALID for somebody else's task.
 */
export function createPolicyStage(
  { instanceOf, policy }: PolicyStageDeps,
  sharedTasks: Pick<SharedTasks, "check">,
  profiles?: Pick<Profiles, "require">,
): Gate {
  return (intent, work) => {
    const { context } = work;
    requireScope(context.principal, scopeOf(intent));
    const called = calledTool(intent, work);
    const server = called && instanceOf(called.instance)?.server;
    if (called !== undefined && server !== undefined) {
      requireAllowed(called, { server, policy: policy(), principal: context.principal });
      if (context.principal.profile !== undefined)
        profiles?.require(context.principal, called.tool, { server, given: () => called.given.value });
      if (intent.kind === "call" && intent.readOnly === true) requireReadOnly(called, server);
    }
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

/** Which of the two tools for calls a model took is its own choice; which calls pass through the second one is not. */
function requireReadOnly({ tool, given }: CalledTool, server: DecidingServer): void {
  const { passes, effect, because } = judgeReadOnly(tool, server, () => given.value);
  if (passes) return;
  throw new GatewayError("NOT_READ_ONLY", `${tool.path} is not known only to read (${effect}: ${because})`, {
    data: { tool_path: tool.path, effect },
  });
}
