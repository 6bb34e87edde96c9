import * as z from "zod";
import { resolveTool } from "../../catalog/exposure/text/tool-lookup.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import { serverOf, type View, type ViewServer } from "../../catalog/model/view.ts";
import { decideCall, decideTool, type Decision } from "../../engine/policy/decide.ts";
import { judgeReadOnly, type ReadOnlyVerdict } from "../../engine/policy/read-only.ts";
import { hasRole, ownRecords, ownWork, reading } from "../../engine/policy/rights.ts";
import { noArguments } from "../../kernel/call/call-context.ts";
import { approvers, contentLabels, toolEffects } from "../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { firstWaitMs } from "../../kernel/limits.ts";
import { auditName, type Principal } from "../../kernel/principal.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { operation, type Operation } from "../operation.ts";
import { done } from "../reply.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";
import { requirePerson } from "./approval-operations.ts";
import { readPerson } from "./search-operations.ts";

const tag = "Approvals";
const effect = z.enum(toolEffects).describe("What the gateway says the tool does.");

const explanation = z
  .object({
    tool: z.string(),
    verdict: z.enum(["allow", "ask", "deny"]),
    effect,
    because: z.string(),
    rule: schemas.nullableText.describe(
      "Of the configuration, as `policy.rules[0]`, or of the team; null where the effect alone decides.",
    ),
    approver: z.enum(approvers).nullable().describe("Who says yes where it asks."),
    person: z.string().describe("For whom it is said."),
    asked: z.array(effect).describe("Effects that need a person's yes (`policy.ask`)."),
    flows: z
      .array(z.object({ after: z.enum(contentLabels), then: z.enum(["ask", "deny"]) }))
      .describe("Rules of `policy.flows` that count once the client has read from a server with such content."),
    readOnly: z.boolean().describe("Whether the call passes through `execute_read_only_mcp_tool`."),
  })
  .meta({ id: "PolicyExplanation" });

const labelJson = z
  .object({
    label: z.enum(contentLabels),
    person: z.string(),
    client: z.string().describe("What the client calls itself."),
    server: z.string().describe("From which it read."),
    readAt: z.string(),
  })
  .meta({ id: "FlowLabel" });
const labelList = z.object({ labels: z.array(labelJson) }).meta({ id: "FlowLabelList" });

export const listFlowLabels = operation({
  route: "GET /api/flows",
  right: ownRecords,
  id: "listFlowLabels",
  tag,
  summary: "What your clients have read, where rules of `policy.flows` go by it",
  description: "Each counts for 30 minutes, in this gateway. Commands of the gateway's owner see those of all people.",
  responses: answers(labelList, "The labels that count."),
  async run(services, { principal: { id, via } }) {
    const labels = (await services.flowLabels()).all();
    const own = labels.filter(({ principal }) => principal === id || via === "owner");
    return {
      labels: own.map(({ label, principal: person, client, server, atMs }) => ({
        ...{ label, person, client, server, readAt: new Date(atMs).toISOString() },
      })),
    };
  },
});

export const clearFlowLabels = operation({
  route: "DELETE /api/flows",
  right: ownWork,
  id: "clearFlowLabels",
  tag,
  summary: "Forget what your clients have read",
  description: "By a person, as a yes is said: a program could otherwise free itself of the rules.",
  responses: answers(z.object({ done: z.boolean() }), "Rules count again after the next read.", [415]),
  async run(services, request) {
    const { id, via } = request.principal;
    requirePerson(services, request);
    (await services.flowLabels()).clear((principal) => principal === id || via === "owner");
    return done;
  },
});

export const explainPolicy = operation({
  route: "GET /api/policy/explain",
  right: reading,
  query: z.object({
    tool: schemas.name.describe("`server:tool`, or another spelling."),
    args: z.string().max(100_000).optional().describe("Arguments of a call, as a JSON object."),
    as: schemas.name.optional().describe("For whom, by id, name, or `name@team`: only for admins of the gateway."),
  }),
  id: "explainPolicy",
  tag,
  summary: "What a tool may do, and whether it asks first",
  responses: answers(explanation, "The decision, and why.", [404, 409, 503]),
  async run(services, { principal: asking, query, signal }) {
    const { as } = query;
    const principal =
      as === undefined ? asking : await readPerson(services, asking, { id: as, field: "query.as" }, signal);
    if (principal !== asking) await services.settled(principal, firstWaitMs, signal);
    const view = services.viewOf(principal);
    const maySeeHidden = services.isOpen() || asking.roles.includes("admin") || hasRole(asking, "team-admin");
    const tool = findTool(view, query.tool, maySeeHidden);
    const given = parseArguments(query.args);
    const server = services.instancesOf(principal).find(({ id }) => id === serverOf(view, tool).instance)?.server;
    if (server === undefined) throw new GatewayError("SERVER_UNKNOWN", `${tool.server} is not there any more`);
    const { policy } = services.settings();
    const {
      verdict,
      effect: does,
      because,
      rule,
      approver,
    } = decideCall(tool, { server, policy, principal }, () => given);
    const flows = policy.flows
      .filter(({ effects }) => effects.includes(does))
      .map(({ after, then }) => ({ after, then }));
    const readOnly = verdict !== "deny" && judgeReadOnly(tool, server, () => given).passes;
    return {
      ...{ flows, readOnly },
      ...{ tool: tool.path, verdict, effect: does, because, rule },
      ...{ approver: verdict === "ask" ? approver : null, asked: [...policy.ask], person: auditName(principal) },
    };
  },
});

/** Also one that is in no list, because a rule denies it: for those who may know of it. */
function findTool(view: View, spelling: string, maySeeHidden: boolean): ToolEntry {
  try {
    return resolveTool(view, spelling, noArguments).tool;
  } catch (error) {
    const all = maySeeHidden ? view.servers.flatMap(({ catalog }) => catalog?.tools ?? []) : [];
    const hidden = all.find(
      ({ path, server, upstreamName }) => path === spelling || `${server}:${upstreamName}` === spelling,
    );
    if (hidden === undefined) throw error;
    return hidden;
  }
}

/**
 * The decision about a tool whatever its arguments are, and whether it passes as one that only reads; undefined for one
 * whose server has left meanwhile.
 */
export function decisionsOf(
  services: Pick<Services, "instancesOf" | "settings">,
  principal: Principal,
): (server: ViewServer, tool: ToolEntry) => (Decision & Pick<ReadOnlyVerdict, "passes">) | undefined {
  const { policy } = services.settings();
  const servers = new Map(services.instancesOf(principal).map(({ id, server }) => [id, server]));
  return ({ instance }, tool) => {
    const server = servers.get(instance);
    if (server === undefined) return undefined;
    return { ...decideTool(tool, { server, policy, principal }), passes: judgeReadOnly(tool, server).passes };
  };
}

function parseArguments(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new GatewayError("PARAMS_INVALID", "query.args: expected a JSON object");
}

/** The decisions about calls and their reasons, and what clients have read. */
export const policyOperations: readonly Operation[] = [listFlowLabels, clearFlowLabels, explainPolicy];
