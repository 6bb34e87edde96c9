import type { drainNode, listNodes, resumeNode } from "../../operations/gateway/node-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { openGatewayClient } from "../gateway/gateway-client.ts";
import { printAnswer } from "../gateway/list-output.ts";
import { minuteOf } from "../people/team-lists.ts";
import { megabytes } from "../terminal/status-text.ts";
import { printText } from "../terminal/fitted-text.ts";
import { toTable, type Column } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";

type Node = TypesOf<typeof listNodes>["answer"]["nodes"][number];

const columns: readonly Column[] = [
  { heading: "NODE" },
  { heading: "STATE" },
  { heading: "INSTANCES", align: "right" },
  { heading: "CALLS/S", align: "right", rank: 6 },
  { heading: "FORWARDED/S", align: "right", rank: 8 },
  { heading: "CPU", align: "right", rank: 7 },
  { heading: "MEMORY", align: "right", rank: 7 },
  { heading: "STARTS", align: "right", rank: 9 },
  { heading: "LEASE", align: "right", rank: 3 },
  { heading: "VERSION", rank: 2 },
  { heading: "ADDRESS", rank: 4 },
  { heading: "STARTED", rank: 5 },
  { heading: "NOTES", fit: "wrap", least: 16, rank: 1 },
];

/** `toolyard nodes`: the nodes of the cluster, as the gateway that is meant sees them. */
export async function nodes(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listNodes>("GET /api/nodes", {});
  return printAnswer(context, answer, ({ nodes: all }) =>
    process.stdout.write(`${toTable(columns, all.map(toCells)).join("\n")}\n`),
  );
}

function toCells(node: Node): readonly string[] {
  const notes = [
    ...(node.this ? ["this one"] : []),
    ...(node.differs && node.state !== "dead" ? ["another configuration"] : []),
  ];
  const lease = node.state === "dead" ? "" : `${(node.leaseLeftMs / 1_000).toFixed(1)} s`;
  const { id, state, version, address, started } = node;
  const { instances } = node;
  return [
    ...[id, state, String(instances), ...loadCells(node.load)],
    ...[lease, version, address, minuteOf(started), notes.join(", ")],
  ];
}

/** Of a node whose load is not known, none. STARTS is of servers that wait for theirs. */
function loadCells(load: Node["load"]): readonly string[] {
  if (load === null) return ["-", "-", "-", "-", "-"];
  const { callsPerSecond, forwardedPerSecond, cpuCores, cores, memoryBytes, waitingStarts } = load;
  return [
    ...[callsPerSecond.toFixed(1), forwardedPerSecond.toFixed(1), `${cpuCores.toFixed(1)}/${cores}`],
    ...[megabytes(memoryBytes), String(waitingStarts)],
  ];
}

/** `toolyard drain NODE`: it hands over what it runs; with --resume it takes part again. */
export async function drain(context: CommandContext): Promise<number> {
  const [id, more] = context.positionals;
  if (id === undefined || more !== undefined) return misused("drain NODE; `toolyard nodes` lists them");
  const gateway = await openGatewayClient(context);
  const given = { params: { id } };
  const node = isOn(context, "resume")
    ? await gateway.ask<typeof resumeNode>("POST /api/nodes/{id}/resume", given)
    : await gateway.ask<typeof drainNode>("POST /api/nodes/{id}/drain", given);
  return printAnswer(context, node, ({ state, instances }) => {
    const what = instances === 1 ? "the instance" : `the ${instances} instances`;
    printText(
      process.stdout,
      state === "ready" ? `${id} takes part again` : `${id} is drained: ${what} that it runs will move to other nodes`,
    );
  });
}
