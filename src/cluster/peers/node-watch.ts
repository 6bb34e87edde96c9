import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import type { FrameStream } from "./frames.ts";
import type { AnsweringFrame } from "./messages.ts";
import type { PeerClient } from "./peer-client.ts";

/** Something that happened at another node, as that node tells it. */
export interface Happened {
  readonly node: string;
  /** What decides who may see it: its type, and whose it is. */
  readonly about: JsonObject;
  /** The whole event as JSON; for those who may see that it happened and not what was in it, another one. */
  readonly whole: string;
  readonly metadata: string;
}

export interface NodeFollower {
  readonly onEvent: (event: Happened) => void;
  /** Something happened at a node that is not told: there was no link to it, or it was more than the link takes. */
  readonly onLost: () => void;
}

/** What happens at other nodes: they tell it while somebody follows. */
export interface NodeWatch {
  /** Follows all that there are, and those that join. Returns what ends it. */
  follow(follower: NodeFollower): () => void;
  /** There may be other nodes than before. */
  look(): void;
}

export interface NodeWatchDeps {
  readonly membership: Pick<Membership, "me" | "nodes">;
  readonly reach: (node: KnownNode) => Promise<Pick<PeerClient, "watch" | "closed">>;
}

export function createNodeWatch({ membership, reach }: NodeWatchDeps): NodeWatch {
  const followers = new Set<NodeFollower>();
  /** By life of a node; undefined while it is not reached yet. */
  const watched = new Map<string, Pick<PeerClient, "watch" | "closed"> | undefined>();

  function take(node: string, { about, metadata, lost }: Said, body: Buffer): void {
    const whole = body.toString("utf8");
    for (const { onEvent, onLost } of followers)
      if (lost === true) onLost();
      else if (about !== undefined) onEvent({ node, about, whole, metadata: metadata ?? whole });
  }

  async function watch(name: string, node: KnownNode, isLate: boolean): Promise<void> {
    watched.set(name, undefined);
    try {
      const client = await reach(node);
      if (followers.size === 0) return void watched.delete(name);
      watched.set(name, client);
      client.watch((said, body) => take(node.id, said, body));
      if (isLate) for (const { onLost } of followers) onLost();
      void client.closed.then(() => watched.get(name) === client && watched.delete(name));
    } catch {
      // The next renewal of the lease tries again.
      watched.delete(name);
    }
  }

  function begin(isLate: boolean): void {
    for (const node of followers.size === 0 ? [] : membership.nodes()) {
      const name = `${node.id} ${node.epoch}`;
      if (node.id !== membership.me.id && node.state !== "dead" && !watched.has(name)) void watch(name, node, isLate);
    }
  }

  return {
    follow(follower) {
      followers.add(follower);
      begin(false);
      return () => {
        followers.delete(follower);
        if (followers.size > 0) return;
        for (const client of watched.values()) client?.watch(undefined);
        watched.clear();
      };
    },
    look: () => begin(true),
  };
}

type Said = Pick<Extract<AnsweringFrame, { k: "happened" }>, "about" | "metadata" | "lost">;

/** What another node is told of this one. */
export interface Told {
  readonly about: JsonObject;
  readonly whole: string;
  readonly metadata: string;
}

/** Follows what happens here. Returns what ends it. */
export type FollowHere = (onEvent: (event: Told) => void, onLost: () => void) => () => void;

/** Calls go over the same link: so many bytes of them and of events may wait, and no event beyond that. */
const mostWaitingBytes = 1024 * 1024;
const patienceMs = 1_000;

/** Tells another node what happens here while it wants to know, as far as its link takes it. */
export function createTelling(frames: FrameStream, follow: FollowHere) {
  let leave: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const isFull = (): boolean => frames.waitingBytes > mostWaitingBytes;

  /** Nothing more is told until the link has room: then the other node reads everything again. */
  function lose(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (isFull()) lose();
      else frames.send({ k: "happened", lost: true });
    }, patienceMs).unref();
  }

  function tell({ about, whole, metadata }: Told): void {
    if (timer !== undefined || isFull()) return lose();
    frames.send({ k: "happened", about, ...(metadata === whole ? {} : { metadata }) }, Buffer.from(whole, "utf8"));
  }

  function stop(): void {
    leave?.();
    leave = undefined;
    clearTimeout(timer);
    timer = undefined;
  }

  void frames.closed.then(stop);
  return (isWanted: boolean): void => {
    if (!isWanted) stop();
    else leave ??= follow(tell, lose);
  };
}
