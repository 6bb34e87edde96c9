import { isOn } from "../../config/given.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type {
  approveDefinitions,
  blockDefinitions,
  diffDefinitions,
  listDefinitions,
} from "../../operations/tools/definition-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { printAnswer } from "../gateway/list-output.ts";
import { printText } from "../terminal/fitted-text.ts";
import { printTable } from "../terminal/table.ts";
import { misused, refuseUsage } from "../terminal/wrong-usage.ts";
import { askTyped, canAsk } from "../terminal/yes-or-no.ts";

type Diff = TypesOf<typeof diffDefinitions>["answer"];
type Definition = Diff["definitions"][number];

const usage = "definitions [SERVER] [--all], or definitions diff|approve|block SERVER[:TOOL]";

/** `toolyard definitions`: which tools changed, which wait for a person, and the decision. */
export async function definitions(context: CommandContext): Promise<number> {
  const [task, path] = context.positionals;
  if (path === undefined) return await list(context, task);
  const { server, tool } = parsePath(path);
  if (task === "approve" || task === "block") return await decide(context, task, server, tool);
  if (task !== "diff") return misused(usage);
  const gateway = await openGatewayClient(context);
  return printAnswer(context, await readDiff(gateway, server, tool), printDiff);
}

/** Names of tools may have colons in them, those of servers have none. */
function parsePath(path: string): { readonly server: string; readonly tool: string | undefined } {
  const colon = path.indexOf(":");
  return colon === -1
    ? { server: path, tool: undefined }
    : { server: path.slice(0, colon), tool: path.slice(colon + 1) };
}

async function list(context: CommandContext, server: string | undefined): Promise<number> {
  const gateway = await openGatewayClient(context);
  const changed = await gateway.ask<typeof listDefinitions>("GET /api/definitions", {});
  const others = isOn(context, "all")
    ? await gateway.ask<typeof listDefinitions>("GET /api/definitions", { query: { state: "pinned" } })
    : { servers: [] };
  const servers = [...changed.servers, ...others.servers].filter(
    (one) => server === undefined || one.server === server || one.id === server,
  );
  return printAnswer(context, { servers }, () => {
    const rows = servers.flatMap((one) =>
      one.definitions.map((own) => [
        ...[plainText(`${one.server}:${own.tool}`), own.state, own.seenAt?.slice(0, 16) ?? ""],
        plainText(own.because.join("; ")),
      ]),
    );
    if (rows.length === 0) process.stderr.write("no definition waits, and none has changed\n");
    else printTable(["TOOL", "STATE", "SEEN", "BECAUSE"], rows);
  });
}

async function readDiff(gateway: GatewayClient, server: string, tool: string | undefined): Promise<Diff> {
  const query = tool === undefined ? {} : { tool };
  return await gateway.ask<typeof diffDefinitions>("GET /api/definitions/{server}/diff", { params: { server }, query });
}

function printDiff({ server, definitions: all, more }: Diff): void {
  if (all.length === 0) process.stderr.write("no definition waits, and none has changed\n");
  for (const one of all) printOne(server, one);
  if (more > 0) process.stderr.write(`${more} more are not shown: name a tool\n`);
}

function printOne(server: string, { tool, state, because, diff }: Definition): void {
  process.stdout.write(`${plainText(`${server}:${tool}`)}: ${state}\n`);
  for (const reason of because) printText(process.stdout, `  ${plainText(reason)}`, "    ");
  for (const line of diff) process.stdout.write(`    ${plainText(line)}\n`);
}

/** A person's word, as `toolyard approvals allow` is: it takes a terminal and a typed answer. */
async function decide(
  context: CommandContext,
  task: "approve" | "block",
  server: string,
  tool: string | undefined,
): Promise<number> {
  if (task === "approve" && !canAsk())
    return refuseUsage("a yes is typed by a person on a terminal", `toolyard definitions approve ${server}`);
  const gateway = await openGatewayClient(context);
  const diff = await readDiff(gateway, server, tool);
  const chosen =
    tool === undefined ? diff.definitions.filter(({ state }) => state === "held") : oneOf(diff.definitions);
  if (task === "approve") {
    printDiff({ ...diff, definitions: [...chosen] });
    if (chosen.length === 0) return 1;
    if (!(await askTyped("Type yes to allow these", "yes"))) {
      process.stderr.write("Nothing was allowed.\n");
      return 1;
    }
  }
  const hash = tool === undefined ? diff.hash : (chosen[0]?.hash ?? "");
  const body = tool === undefined ? { hash } : { hash, tools: [tool] };
  const params = { server };
  const answer =
    task === "approve"
      ? await gateway.ask<typeof approveDefinitions>("POST /api/definitions/{server}/approve", { params, body })
      : await gateway.ask<typeof blockDefinitions>("POST /api/definitions/{server}/block", { params, body });
  return printAnswer(context, answer, ({ tools }) => {
    const done = task === "approve" ? "may be used" : "is blocked";
    for (const name of tools) process.stdout.write(`${plainText(`${server}:${name}`)} ${done}\n`);
  });
}

/** Of several versions of one tool the one that waits, or the first. */
function oneOf(versions: readonly Definition[]): readonly Definition[] {
  const one = versions.find(({ state }) => state === "held") ?? versions[0];
  return one === undefined ? [] : [one];
}
