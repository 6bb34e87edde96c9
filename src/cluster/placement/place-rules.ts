import { createHash } from "node:crypto";
import type { ServerConfig } from "../../config/config.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";

type Labels = Readonly<Record<string, string>>;

/** Whether a node with these labels has all that the server asks for. */
export function mayRun({ place }: Pick<ServerConfig, "place">, labels: Labels = {}): boolean {
  return Object.entries(place.labels).every(([name, value]) => labels[name] === value);
}

/** Whether the server asks for labels at all. */
export function isChoosy({ place }: Pick<ServerConfig, "place">): boolean {
  return Object.keys(place.labels).length > 0;
}

/** Whether it runs only where its files are. */
export function keepsFiles({ files, transport }: Pick<ServerConfig, "files" | "transport">): boolean {
  return files === "node" && hasProcess(transport);
}

/** Who gets what this node gives up: of those that may run it, the node that began last, as it stays for longest. */
export function heirOf(membership: Membership, clock: Clock, server?: ServerConfig): KnownNode | undefined {
  return server !== undefined && keepsFiles(server) ? undefined : otherNodes(membership, clock, server)[0];
}

/** Whether another node may run it, now or when it is ready again. */
export function mayLeave(server: ServerConfig, { me, nodes }: Membership): boolean {
  const mayHave = ({ id, state, info }: KnownNode): boolean =>
    id !== me.id && state !== "dead" && mayRun(server, info.labels);
  return !keepsFiles(server) && (!isChoosy(server) || nodes().some(mayHave));
}

/** The other node that is asked to run it: all nodes choose the same one, and another one for another instance. */
export function hostOf(
  membership: Membership,
  clock: Clock,
  wanted: { readonly instance: string; readonly server: ServerConfig; readonly home: string | undefined },
): KnownNode | undefined {
  const { instance, home, server } = wanted;
  const fit = otherNodes(membership, clock, server).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (home !== undefined) return fit.find(({ id }) => id === home);
  return fit[createHash("sha256").update(instance).digest().readUInt32BE(0) % fit.length];
}

/** The other nodes that are ready and may run it, the newest one first. */
function otherNodes(membership: Membership, clock: Clock, server?: ServerConfig): readonly KnownNode[] {
  const nowMs = clock.monotonic();
  const { id } = membership.me;
  const isFit = ({ info }: KnownNode): boolean => server === undefined || mayRun(server, info.labels);
  return membership
    .nodes()
    .filter((node) => node.id !== id && node.state === "ready" && node.leasedUntilMs > nowMs && isFit(node))
    .toSorted((a, b) => b.epoch - a.epoch);
}

/** Where its files are, and why that node does not run it, for people. */
export function toFilesText(home: string, nodes: readonly KnownNode[]): string {
  const state = nodes.find(({ id }) => id === home)?.state;
  return `its files are at the node ${home}, which is ${state === "draining" ? "drained" : "away"}`;
}

/** Which labels are asked for, and what the nodes have, for people. */
export function toRoomText({ place }: Pick<ServerConfig, "place">, nodes: readonly KnownNode[]): string {
  const all = nodes
    .filter(({ state }) => state !== "dead")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, state, info }) => `${id} (${[...(state === "ready" ? [] : [state]), toText(info.labels)].join(", ")})`);
  const named = all.length > mostNamed ? [...all.slice(0, mostNamed), `${all.length - mostNamed} more`] : all;
  return `it asks for a node with the labels ${toText(place.labels)}, and there are ${named.join(", ")}`;
}

const mostNamed = 10;

function toText(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? "no labels" : pairs.join(", ");
}
