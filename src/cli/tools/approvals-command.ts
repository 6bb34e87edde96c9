import { isOn, textOption } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type {
  decideApproval,
  listApprovals,
  listGrants,
  revokeGrant,
  showApproval,
} from "../../operations/tools/approval-operations.ts";
import type { clearFlowLabels, explainPolicy, listFlowLabels } from "../../operations/tools/policy-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { printAnswer, printDone } from "../gateway/list-output.ts";
import { openStartedGateway, waitForServers } from "../gateway/started-gateway.ts";
import { printText } from "../terminal/fitted-text.ts";
import { toTable, type Column } from "../terminal/table.ts";
import { misused, refuseUsage } from "../terminal/wrong-usage.ts";
import { askTyped, canAsk } from "../terminal/yes-or-no.ts";

type Approval = TypesOf<typeof showApproval>["answer"];

const usage =
  "approvals [--all], approvals show|allow|deny ID [--for once|session|always], approvals grants, approvals revoke ID, " +
  "approvals read, or approvals forget";

/** `toolyard approvals`: what waits for a person's yes, and the yes. */
export async function approvals(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  if (task === "list" && id === undefined) return await list(context);
  if (task === "grants" && id === undefined) return await grants(context);
  if (task === "read" && id === undefined) return await labels(context);
  if (task === "forget" && id === undefined) return await forget(context);
  if (id === undefined) return misused(usage);
  if (task === "allow" || task === "deny") return await decide(context, task, id);
  const gateway = await openGatewayClient(context);
  if (task === "show") return printAnswer(context, await readOne(gateway, await wholeId(gateway, id)), printOne);
  if (task !== "revoke") return misused(usage);
  await gateway.ask<typeof revokeGrant>("DELETE /api/grants/{id}", { params: { id } });
  return printDone(context);
}

async function list(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const query = isOn(context, "all") ? {} : ({ state: "waiting" } as const);
  const answer = await gateway.ask<typeof listApprovals>("GET /api/approvals", { query });
  return printAnswer(context, answer, ({ approvals: all }) => {
    if (all.length === 0) process.stderr.write("nothing waits for a yes\n");
    else
      printLines(
        [
          ...[{ heading: "ID" }, { heading: "STATE" }, { heading: "TOOL", fit: "wrap", least: 20 } as const],
          ...[{ heading: "EFFECT", rank: 2 }, { heading: "ASKED BY", fit: "wrap", rank: 3 } as const],
          ...[{ heading: "AT", rank: 4 }, { heading: "ARGUMENTS", fit: "below" } as const],
        ],
        all.map((one) => [
          ...[one.id, one.state, plainText(one.tool), one.effect, plainText(one.client), one.askedAt.slice(0, 16)],
          plainText(one.arguments),
        ]),
      );
  });
}

async function grants(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listGrants>("GET /api/grants", {});
  return printAnswer(context, answer, ({ grants: all }) => {
    if (all.length === 0) process.stderr.write("no yes is remembered\n");
    else
      printLines(
        [
          ...[{ heading: "ID" }, { heading: "TOOL", fit: "wrap", least: 20 } as const, { heading: "FOR" }],
          ...[
            { heading: "PERSON", rank: 3 },
            { heading: "CLIENT", rank: 2 },
            { heading: "UNTIL", rank: 4 },
          ],
        ],
        all.map((one) => [
          ...[one.id, plainText(one.tool), one.kind, one.person, plainText(one.client)],
          one.until?.slice(0, 16) ?? "it is taken back",
        ]),
      );
  });
}

async function labels(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listFlowLabels>("GET /api/flows", {});
  return printAnswer(context, answer, ({ labels: all }) => {
    if (all.length === 0) process.stderr.write("no client has read anything that policy.flows goes by\n");
    else
      printLines(
        [{ heading: "CONTENT" }, { heading: "SERVER" }, { heading: "CLIENT", rank: 2 }, { heading: "AT", rank: 3 }],
        all.map((one) => [one.label, plainText(one.server), plainText(one.client), one.readAt.slice(0, 16)]),
      );
  });
}

async function forget(context: CommandContext): Promise<number> {
  if (!canAsk()) return refuseUsage("this is typed by a person on a terminal", "toolyard approvals forget");
  const gateway = await openGatewayClient(context);
  if (!(await askTyped("Type yes to forget what your clients have read", "yes"))) return 1;
  await gateway.ask<typeof clearFlowLabels>("DELETE /api/flows", {});
  return printDone(context);
}

function printLines(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
}

/** Its whole id, of which a person may type the beginning. */
async function wholeId(gateway: GatewayClient, id: string): Promise<string> {
  const { approvals: waiting } = await gateway.ask<typeof listApprovals>("GET /api/approvals", {
    query: { state: "waiting" },
  });
  const [only, other] = waiting.filter((one) => one.id.startsWith(id));
  return only === undefined || other !== undefined ? id : only.id;
}

async function readOne(gateway: GatewayClient, id: string): Promise<Approval> {
  return await gateway.ask<typeof showApproval>("GET /api/approvals/{id}", { params: { id } });
}

const approverTexts = {
  self: "the person who asks",
  "team-admin": "an admin of the person's team, who is somebody else",
  admin: "an admin of the gateway, who is somebody else",
} as const;

function printOne(one: Approval): void {
  const lines = [
    `${plainText(one.tool)}: ${one.effect}, ${plainText(one.because)}`,
    `  arguments  ${plainText(one.arguments)}${one.cut ? "  (cut)" : ""}`,
    `  asked by   ${plainText(one.client)}, for ${plainText(one.personName ?? one.person)}, ${one.askedAt}`,
    ...(one.approver === "self" ? [] : [`  decided by ${approverTexts[one.approver]}`]),
    `  state      ${one.state}${one.state === "waiting" ? `, until ${one.expiresAt}` : ""}`,
  ];
  for (const line of lines) printText(process.stdout, line, "             ");
}

const lengths = ["once", "session", "always"] as const;

/**
 * A person's word: it takes a terminal and a typed answer, and there is no option in their place. A program with a
 * shell of this user can get around that (docs/security.md).
 */
async function decide(context: CommandContext, task: "allow" | "deny", given: string): Promise<number> {
  const wanted = textOption(context, "for") ?? "once";
  const length = lengths.find((one) => one === wanted);
  if (length === undefined)
    return refuseUsage(`--for: expected ${lengths.join(", ")}`, `toolyard approvals allow ${given}`);
  if (task === "allow" && !canAsk())
    return refuseUsage("a yes is typed by a person on a terminal", `toolyard approvals allow ${given}`);
  const gateway = await openGatewayClient(context);
  const id = await wholeId(gateway, given);
  if (task === "allow") {
    printOne(await readOne(gateway, id));
    if (!(await askTyped("Type yes to allow it", "yes"))) {
      process.stderr.write("Nothing was allowed.\n");
      return 1;
    }
  }
  const body = { decision: task, for: length };
  const answer = await gateway.ask<typeof decideApproval>("POST /api/approvals/{id}", { params: { id }, body });
  return printAnswer(context, answer, ({ tool, state }) =>
    process.stdout.write(`${plainText(tool)}: ${state === "denied" ? state : "the same call may run now"}\n`),
  );
}

/** `toolyard policy explain TOOL`: what a tool may do, and whether it asks first. */
export async function policy(context: CommandContext): Promise<number> {
  const [task, tool] = context.positionals;
  if (task !== "explain" || tool === undefined) return misused("policy explain TOOL [--as WHO] [--args JSON]");
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const [args, as] = [textOption(context, "args"), textOption(context, "as")];
  const query = { tool, ...(args === undefined ? {} : { args }), ...(as === undefined ? {} : { as }) };
  const answer = await gateway.ask<typeof explainPolicy>("GET /api/policy/explain", { query });
  return printAnswer(context, answer, (found) => {
    const verdicts = { allow: "is called without a question", ask: "waits for a person's yes", deny: "is not allowed" };
    const whom = as === undefined ? "" : `, for ${found.person}`;
    printText(process.stdout, `${plainText(found.tool)} ${verdicts[found.verdict]}${whom}.`);
    if (found.approver !== null && found.approver !== "self")
      printText(process.stdout, `  who     ${approverTexts[found.approver]}`, "          ");
    printText(process.stdout, `  effect  ${found.effect}: ${plainText(found.because)}`, "          ");
    const why = found.rule === null ? `policy.ask has ${found.asked.join(", ") || "no effects"}` : found.rule;
    printText(process.stdout, `  rule    ${plainText(why)}`, "          ");
    for (const { after, then } of found.flows)
      printText(
        process.stdout,
        `  flows   ${then === "ask" ? "asks" : "is refused"} after its client has read ${after} content`,
        "          ",
      );
    const passes = `${found.readOnly ? "passes" : "does not pass"} through execute_read_only_mcp_tool`;
    printText(process.stdout, `  reading ${passes}`, "          ");
    const [server = "", own = ""] = found.tool.split(/:(.*)/s);
    const change = `on the Tools page, or by "tools": { "ask" or "neverAsk": ["${own}"] } in the entry of ${server}`;
    printText(process.stdout, `  change  ${plainText(change)}`, "          ");
  });
}
