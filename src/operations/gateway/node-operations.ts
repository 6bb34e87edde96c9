import * as z from "zod";
import type { NodeOrder } from "../../cluster/peers/messages.ts";
import type { NodeDesk, SeenNode } from "../../cluster/peers/node-desk.ts";
import { gatewayAdmin, gatewayReading } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { operation, type Operation } from "../operation.ts";
import { requireOwner } from "../request/manager.ts";
import { findOwnInstance } from "../servers/own-instance.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";
import { noteUpkeep } from "./database-operations.ts";

const tag = "Gateway";

const nodeSchema = z
  .object({
    id: z.string(),
    this: z.boolean().describe("Whether it is the node that answers."),
    state: z
      .enum(["ready", "draining", "dead", "silent"])
      .describe("`silent`: its lease has run out, and no one has proved that it ended."),
    version: z.string(),
    address: z.string().describe("Where other nodes reach it."),
    started: z.iso.datetime(),
    leaseLeftMs: z.int().describe("The rest of its lease; 0 where it has none."),
    instances: z.int().describe("That it runs."),
    config: z.string().describe("SHA-256 of its servers and rules of calls, in hex."),
    labels: z.record(z.string(), z.string()).describe("That servers may ask for with `place.labels`."),
    differs: z.boolean().describe("Whether that is not the configuration of the node that answers."),
    load: z
      .object({
        callsPerSecond: z.number().describe("Requests of its clients to servers."),
        forwardedPerSecond: z.number().describe("Those of them that it passed to other nodes."),
        cpuCores: z.number().describe("Cores that it and the processes of its servers used."),
        cores: z.int().describe("That it may use."),
        memoryBytes: z.int().nullable().describe("Resident, of its servers' processes; null where that is not known."),
        machineBytes: z.int().describe("Memory of its machine or container."),
        waitingStarts: z.int().describe("Servers that wait for their turn to be started."),
      })
      .nullable()
      .describe(
        "Of the last seconds; null for one that has just begun, says nothing any more, or is of an older version.",
      ),
  })
  .meta({ id: "ClusterNode" });

const nodeList = z
  .object({
    nodes: z.array(nodeSchema),
    maxConnections: z
      .int()
      .nullable()
      .describe("That PostgreSQL takes; null while it is away. Each node needs up to 11."),
  })
  .meta({ id: "ClusterNodeList" });

/** Throws NO_CLUSTER. */
function requireNodes({ nodes }: Pick<Services, "nodes">): NodeDesk {
  const desk = nodes();
  if (desk === undefined) throw new GatewayError("NO_CLUSTER", "this gateway is no node of a cluster");
  return desk;
}

function toJson({ isThis, startedAtMs, ...node }: SeenNode): z.output<typeof nodeSchema> {
  const { id, state, version, address, leaseLeftMs, instances, config, labels = {}, differs, load = null } = node;
  const started = new Date(startedAtMs).toISOString();
  const about = { id, this: isThis, state, version, address, started, leaseLeftMs, instances };
  return { ...about, config, labels, differs, load };
}

export const listNodes = operation({
  route: "GET /api/nodes",
  right: gatewayReading,
  id: "listNodes",
  tag,
  summary: "The nodes of the cluster",
  description: "As the node that answers last heard of the others, which is a fifth of a lease ago at most.",
  responses: answers(nodeList, "Every node, those that ended within the last hour included.", [409]),
  run: async (services) => await seeNodes(services),
});

/** The cluster, as the API tells it. Rejects with NO_CLUSTER. */
export async function seeNodes(services: Pick<Services, "nodes">): Promise<z.output<typeof nodeList>> {
  const desk = requireNodes(services);
  const nodes = desk.list().map(toJson);
  const maxConnections = await desk.maxConnections().catch(() => null);
  return { nodes: nodes.toSorted((a, b) => a.id.localeCompare(b.id)), maxConnections };
}

const orders = [
  {
    name: "drain",
    summary: "Have a node hand over what it runs, and take nothing new",
    description:
      "It is answered when the node has agreed. Calls that run there are answered first, for as long as " +
      "`instances.drainTimeoutMs` says. The node goes on serving its clients, but `/readyz` says 503.",
  },
  { name: "resume", summary: "Have a node that was drained take part again", description: "Servers do not move back." },
] as const satisfies readonly { readonly name: NodeOrder; readonly summary: string; readonly description: string }[];

function orderNode<Name extends NodeOrder>(name: Name, { summary, description }: (typeof orders)[number]) {
  return operation({
    route: `POST /api/nodes/{id}/${name}`,
    right: gatewayAdmin,
    params: z.object({ id: schemas.name }),
    id: `${name}Node`,
    ...{ tag, summary, description },
    responses: answers(nodeSchema, "The node, as it is then.", [404, 409, 503]),
    async run(services, request) {
      requireOwner(services, request);
      const desk = requireNodes(services);
      await noteUpkeep(services, request, `node.${name}`, request.params.id);
      return toJson(await desk.order(request.params.id, name));
    },
  });
}

export const drainNode = orderNode("drain", orders[0]);
export const resumeNode = orderNode("resume", orders[1]);

export const giveFiles = operation({
  route: "POST /api/instances/{id}/files",
  right: gatewayAdmin,
  params: z.object({ id: schemas.name }),
  id: "giveFiles",
  tag,
  summary: "Say which node has the files of an instance",
  description: "Of a server with `files` `node`, which runs only there. It moves with its next start.",
  body: z.object({ node: schemas.name }).meta({ id: "FilesAt" }),
  responses: answers(z.object({ node: z.string() }).meta({ id: "FilesGiven" }), "The node.", [404, 409, 415, 503]),
  async run(services, request) {
    requireOwner(services, request);
    const desk = requireNodes(services);
    const { id } = findOwnInstance(services, request.principal, request.params.id);
    const { node } = request.body;
    await noteUpkeep(services, request, "server.files", id);
    await desk.giveFiles(id, node);
    return { node };
  },
});

/** The nodes of a cluster, for those who run it. */
export const nodeOperations: readonly Operation[] = [listNodes, drainNode, resumeNode, giveFiles];
