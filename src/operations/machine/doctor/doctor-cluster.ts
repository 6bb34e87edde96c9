import { connect } from "node:net";
import type { Config } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";
import { broken, doubtful, fine, type Finding, type SeenCluster } from "./doctor-finding.ts";

const connectMs = 2_000;
/** Of PostgreSQL, for each node, and for those who look after it. */
const [connectionsOfNode, spareConnections] = [11, 20];

/** Whether the key of a gateway that is to be a node is one that several gateways can have. */
export function checkClusterKey({ settings }: Config, env: Surroundings["env"]): readonly Finding[] {
  if (settings.cluster === undefined || env["TOOLYARD_KEY_COMMAND"] !== undefined) return [];
  const key = env["TOOLYARD_KEY"] ?? "";
  if (key.startsWith("file:") || /^[A-Za-z0-9+/]{43}=$/.test(key)) return [];
  return [
    doubtful(
      key === "" ? "this node of a cluster has no TOOLYARD_KEY" : "TOOLYARD_KEY is no 32 bytes in base64",
      "Make one with `openssl rand -base64 32`, and give the same one to all nodes.",
    ),
  ];
}

/** Servers of a node that start anywhere, although it is not known whether they keep files. */
export function checkClusterFiles({ settings, servers }: Config): readonly Finding[] {
  if (settings.cluster === undefined) return [];
  const unknown = servers.filter(
    ({ transport, files, disabledReason }) =>
      hasProcess(transport) && files === undefined && disabledReason === undefined,
  );
  if (unknown.length === 0) return [];
  const names = unknown.slice(0, mostNamed).map(({ key }) => plainText(key));
  const more = unknown.length > mostNamed ? ` and ${unknown.length - mostNamed} more` : "";
  return [
    doubtful(
      `whether they keep files is not known of ${names.join(", ")}${more}: they start at any node of the cluster`,
      'Set "files" in their entries: "none", "shared" for a volume that all nodes have, or "node".',
    ),
  ];
}

const mostNamed = 10;

/** Nodes that differ, that cannot be reached from here, and a database that takes too few connections. */
export async function checkCluster(cluster: SeenCluster, signal: AbortSignal): Promise<readonly Finding[]> {
  const nodes = cluster.nodes.filter(({ state }) => state !== "dead");
  const names = nodes.map(({ id, state }) => `${plainText(id)} (${state})`).join(", ");
  const reached = await Promise.all(nodes.map(async (node) => await checkNode(node, nodes.length > 1, signal)));
  return [fine(`nodes of the cluster: ${names}`), ...reached.flat(), ...checkConnections(cluster, nodes.length)];
}

type Node = SeenCluster["nodes"][number];

async function checkNode(node: Node, hasOthers: boolean, signal: AbortSignal): Promise<readonly Finding[]> {
  const id = plainText(node.id);
  const differs = doubtful(
    `the node ${id} has other servers or rules of calls in its configuration than the node that was asked`,
    "Give all nodes the same configuration: a call may be carried out by each of them.",
  );
  const why = hasOthers ? await whyUnreachable(node.address, signal) : undefined;
  const unreachable = broken(
    `the node ${id} cannot be reached at ${plainText(node.address)}, the address that it tells others: ${why ?? ""}`,
    "Set `toolyard.cluster.advertise` of that node to an address that the other nodes reach, and open the port.",
  );
  return [...(node.differs ? [differs] : []), ...(why === undefined ? [] : [unreachable])];
}

/** Undefined where something listens there. */
async function whyUnreachable(address: string, signal: AbortSignal): Promise<string | undefined> {
  const at = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1))];
  return await new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.setTimeout(connectMs, () => socket.destroy(new Error(`no answer within ${connectMs / 1_000} s`)));
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once("error", ({ message }) => resolve(message));
  });
}

function checkConnections({ maxConnections }: SeenCluster, nodes: number): readonly Finding[] {
  const needed = nodes * connectionsOfNode + spareConnections;
  if (maxConnections === null || maxConnections >= needed) return [];
  return [
    doubtful(
      `PostgreSQL takes ${maxConnections} connections, and ${nodes} nodes may need ${needed}`,
      `Raise max_connections to ${needed}, or put a pooler in session mode before it.`,
    ),
  ];
}
