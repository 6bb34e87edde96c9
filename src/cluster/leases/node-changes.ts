import type { KnownNode } from "./node-membership.ts";

export interface NodeChange {
  readonly type: "node.joined" | "node.draining" | "node.left" | "node.silent";
  readonly node: KnownNode;
}

/** A node at one look: its life, how it is, and whether its lease has run out. */
interface Seen {
  readonly node: KnownNode;
  readonly isSilent: boolean;
}

/**
 * Tells what became of nodes from one look to the next. At the first one only this node is new: the others were there
 * before. A life of a node ends once: one that has left is never said to be silent.
 */
export function createNodeChanges(me: string): (nodes: readonly KnownNode[], nowMs: number) => NodeChange[] {
  let before: ReadonlyMap<string, Seen> | undefined;
  return (nodes, nowMs) => {
    const seen = nodes.map((node): Seen => ({ node, isSilent: node.leasedUntilMs <= nowMs }));
    const changes = seen.flatMap((now) => {
      const isNew = before === undefined && now.node.id !== me;
      return isNew ? [] : changesOf(before?.get(now.node.id), now);
    });
    before = new Map(seen.map((one) => [one.node.id, one]));
    return changes;
  };
}

function changesOf(was: Seen | undefined, { node, isSilent }: Seen): NodeChange[] {
  const isSameLife = was?.node.epoch === node.epoch;
  const state = isSameLife ? was.node.state : undefined;
  const left: NodeChange[] =
    was !== undefined && !isSameLife && was.node.state !== "dead" ? [{ type: "node.left", node: was.node }] : [];
  if (node.state === "dead") return state === "dead" || state === undefined ? left : [{ type: "node.left", node }];
  const turned: NodeChange[] =
    state === node.state ? [] : [{ type: node.state === "ready" ? "node.joined" : "node.draining", node }];
  const silent: NodeChange[] = isSilent && !(isSameLife && was.isSilent) ? [{ type: "node.silent", node }] : [];
  return [...left, ...turned, ...silent];
}
