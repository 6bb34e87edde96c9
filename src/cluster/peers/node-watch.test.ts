import { expect, test, vi } from "vitest";
import type { KnownNode } from "../leases/node-membership.ts";
import type { FrameHead, FrameStream } from "./frames.ts";
import { createNodeWatch, createTelling, type Told } from "./node-watch.ts";
import type { PeerClient } from "./peer-client.ts";

type Watcher = Parameters<PeerClient["watch"]>[0];

/** This node is `one`; the others are reached at once, and note who listens to them. */
function watchOf(...ids: readonly string[]) {
  const nodes = ids.map((id) => ({ id, epoch: 1, state: "ready" }) as KnownNode);
  const heard = new Map<string, Watcher>();
  const ends = new Map<string, () => void>();
  const watch = createNodeWatch({
    membership: { me: { id: "one", epoch: 1 }, nodes: () => nodes },
    reach: async ({ id }) => ({
      closed: new Promise((resolve) => ends.set(id, resolve)),
      watch: (listener) => void heard.set(id, listener),
    }),
  });
  const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
  const follow = (into: string[]) =>
    watch.follow({
      onEvent: ({ node, whole, metadata }) => into.push(`${node} ${whole} ${metadata}`),
      onLost: () => into.push("lost"),
    });
  return { nodes, heard, ends, watch, turn, follow };
}

test("other nodes are heard while somebody follows, and not before or after", async () => {
  const { heard, watch, turn, follow } = watchOf("one", "two", "three");
  watch.look();
  await turn();
  expect(heard.size).toBe(0);
  const [first, second]: [string[], string[]] = [[], []];
  const [leaveFirst, leaveSecond] = [follow(first), follow(second)];
  await turn();
  expect([...heard.keys()]).toEqual(["two", "three"]);
  heard.get("two")?.({ k: "happened", about: { type: "x" }, metadata: "less" }, Buffer.from("more"));
  heard.get("three")?.({ k: "happened", about: { type: "x" } }, Buffer.from("all"));
  expect(first).toEqual(["two more less", "three all all"]);
  leaveFirst();
  heard.get("two")?.({ k: "happened", lost: true }, Buffer.alloc(0));
  expect([first.length, second.at(-1)]).toEqual([2, "lost"]);
  leaveSecond();
  expect([...heard.values()]).toEqual([undefined, undefined]);
});

test("a node that joins or comes back is heard from the next look on, with a word that something may be missing", async () => {
  const { nodes, heard, ends, watch, turn, follow } = watchOf("one", "two");
  const seen: string[] = [];
  follow(seen);
  await turn();
  nodes.push(
    { id: "new", epoch: 1, state: "ready" } as KnownNode,
    { id: "dead", epoch: 1, state: "dead" } as KnownNode,
  );
  watch.look();
  await turn();
  expect([[...heard.keys()], seen]).toEqual([["two", "new"], ["lost"]]);
  heard.clear();
  ends.get("two")?.();
  await turn();
  watch.look();
  await turn();
  expect([[...heard.keys()], seen]).toEqual([["two"], ["lost", "lost"]]);
});

test("a link that takes nothing gets no events, and then one word that some are missing", () => {
  vi.useFakeTimers();
  try {
    const sent: FrameHead[] = [];
    const link = {
      waitingBytes: 0,
      send: (head: FrameHead) => void sent.push(head),
      closed: new Promise(() => undefined),
    };
    let tell: (event: Told) => void = () => undefined;
    let isLeft = false;
    const telling = createTelling(link as unknown as FrameStream, (onEvent) => {
      tell = onEvent;
      return () => void (isLeft = true);
    });
    const event = { about: { type: "x" }, whole: "{}", metadata: "{}" };
    telling(true);
    tell(event);
    link.waitingBytes = 2 * 1024 ** 2;
    for (let many = 0; many < 1_000; many += 1) tell(event);
    vi.advanceTimersByTime(5_000);
    expect(sent).toEqual([{ k: "happened", about: { type: "x" } }]);
    link.waitingBytes = 0;
    vi.advanceTimersByTime(1_000);
    tell(event);
    expect(sent.slice(1)).toEqual([
      { k: "happened", lost: true },
      { k: "happened", about: { type: "x" } },
    ]);
    telling(false);
    expect(isLeft).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
