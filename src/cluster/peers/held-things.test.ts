import { duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { systemClock } from "../../kernel/runtime/clock.ts";
import { createWaitingRequests } from "../../servers/upstream/waiting-requests.ts";
import type { KnownNode, Membership } from "../leases/node-membership.ts";
import { createFrameStream, type FrameHead } from "./frames.ts";
import { createAskElsewhere, serveHeld, type AnswerHeld } from "./held-things.ts";
import type { AskingFrame } from "./messages.ts";
import { createPeerClient, type PeerClient } from "./peer-client.ts";
import { Unreachable } from "./peer-links.ts";

const bodyBytes = 16 * 1024 ** 2;
const row = (id: string, more: Partial<KnownNode> = {}): KnownNode =>
  ({ id, epoch: 1, address: "", state: "ready", leasedUntilMs: Number.POSITIVE_INFINITY, ...more }) as KnownNode;

/** A link to a node that answers so. */
function link(answer: AnswerHeld | undefined) {
  const [here, there] = duplexPair();
  const served = createFrameStream(there, {
    bodyBytes,
    onFrame: (head, body) => {
      const frame = head as unknown as AskingFrame;
      if (held.takes(frame)) held.take(frame, body);
    },
  });
  const held = serveHeld(served, { answerOf: (kind) => (kind === "kept" ? answer : undefined) });
  let take: (head: FrameHead, body: Buffer) => void = () => undefined;
  const frames = createFrameStream(here, { bodyBytes, onFrame: (head, body) => take(head, body) });
  const peer = { id: "two", epoch: 1 };
  const client = createPeerClient({ peer, frames, listen: (next) => void (take = next) }, createWaitingRequests);
  const end = (): void => [there, here].forEach((one) => one.destroy());
  return { client, end };
}

/** This node, one, and how it reaches two. */
function asking(reach: () => PeerClient, rows: () => readonly KnownNode[] = () => [row("one"), row("two")]) {
  const dead: string[] = [];
  const membership = { me: { id: "one", epoch: 1 }, nodes: rows, look: async () => undefined } as unknown as Membership;
  const store = { markDead: async ({ id }: { readonly id: string }) => void dead.push(id) };
  const elsewhere = createAskElsewhere({ membership, clock: systemClock, store, reach: async () => reach() });
  return { ...elsewhere, dead };
}

const code = (code: string) => expect.objectContaining({ code });

test("what is said before the answer comes before it, whole and in order, whatever the sizes", async () => {
  const sizes = [1_000_000, 1, 262_144, 0, 262_145];
  const { client } = link(async ({ about, body, say }) => {
    for (const [index, size] of sizes.entries()) say({ index }, Buffer.alloc(size, index));
    return { about: { echoed: about["word"] }, body };
  });
  const heard: [unknown, Buffer][] = [];
  const body = Buffer.alloc(8 * 1024 ** 2, 7);
  const asked = { kind: "kept", about: { word: "yes" }, body } as const;
  const answer = await asking(() => client).ask("two", {
    ...asked,
    onSaid: (about, bytes) => void heard.push([about["index"], Buffer.from(bytes)]),
  });
  expect(answer?.about).toEqual({ echoed: "yes" });
  expect(answer?.body?.equals(body)).toBe(true);
  expect(heard.map(([index, bytes]) => [index, bytes.length])).toEqual(sizes.map((size, index) => [index, size]));
  expect(heard.every(([index, bytes]) => bytes.every((byte) => byte === index))).toBe(true);
});

test("a failure there is a failure here; what is not there, of a kind that is not known, or junk, is nothing", async () => {
  const { client } = link(({ about }) => {
    if (about["fails"] === true) throw new TypeError("broken");
    return undefined;
  });
  const { ask } = asking(() => client);
  await expect(ask("two", { kind: "kept", about: { fails: true } })).rejects.toEqual(code("INTERNAL"));
  expect(await ask("two", { kind: "kept", about: {} })).toBeUndefined();
  expect(await ask("two", { kind: "stream", about: {} })).toBeUndefined();
  for (const about of [null, [], 7, "x"])
    expect(await ask("two", { kind: "kept", about: about as never })).toBeUndefined();
  expect(client.isOpen).toBe(true);
});

test("who leaves ends the work there, and so does a link that breaks", async () => {
  const ended: string[] = [];
  const { client, end } = link(async ({ about, signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended.push(String(about["name"]));
    return undefined;
  });
  const { ask } = asking(() => client);
  const left = new AbortController();
  const first = ask("two", { kind: "kept", about: { name: "left" }, signal: left.signal });
  setImmediate(() => left.abort(new Error("gone")));
  await expect(first).rejects.toThrow("gone");
  const second = ask("two", { kind: "kept", about: { name: "broken" } });
  setTimeout(end, 50);
  await expect(second).rejects.toEqual(code("OUTCOME_UNKNOWN"));
  expect(ended).toEqual(["left", "broken"]);
});

test("where a link breaks, only what is harmless is asked again, and once", async () => {
  for (const [isHarmless, links] of [
    [undefined, 1],
    [true, 2],
  ] as const) {
    let made = 0;
    const { ask } = asking(() => {
      made += 1;
      const { client, end } = link(() => {
        end();
        return undefined;
      });
      return client;
    });
    const asked = { kind: "kept", about: {}, ...(isHarmless && { isHarmless }) } as const;
    await expect(ask("two", asked)).rejects.toEqual(code("OUTCOME_UNKNOWN"));
    expect(made).toBe(links);
  }
});

test("a node that refuses connections has ended, one that is silent was not asked, and one that never was has ended", async () => {
  const failing = (isGone: boolean) => (): never => {
    throw new Unreachable("two cannot be reached", isGone);
  };
  const gone = asking(failing(true));
  await expect(gone.ask("two", { kind: "kept", about: {} })).rejects.toEqual(code("NODE_ENDED"));
  expect(gone.dead).toEqual(["two"]);
  const silent = asking(failing(false));
  await expect(silent.ask("two", { kind: "kept", about: {} })).rejects.toEqual(code("NODE_SILENT"));
  expect(silent.dead).toEqual([]);
  await expect(silent.ask("never", { kind: "kept", about: {} })).rejects.toEqual(code("NODE_ENDED"));
});

test("what its node does not have any more is looked for at the others, and its end is told where none has it", async () => {
  const { client: two } = link(() => undefined);
  const { client: three } = link(({ about }) => (about["id"] === "given" ? { about: { here: true } } : undefined));
  const rows = [row("one"), row("two"), row("three"), row("old", { state: "dead" })];
  const membership = { me: { id: "one", epoch: 1 }, nodes: () => rows } as unknown as Membership;
  const { find } = createAskElsewhere({
    ...{ membership, clock: systemClock, store: { markDead: async () => undefined } },
    reach: async ({ id }) => (id === "two" ? two : three),
  });
  const asked = (id: string) => ({ kind: "kept", about: { id } }) as const;
  for (const node of ["two", "old"]) expect((await find(node, asked("given")))?.about).toEqual({ here: true });
  expect(await find("two", asked("lost"))).toBeUndefined();
  await expect(find("old", asked("lost"))).rejects.toEqual(code("NODE_ENDED"));
});

test("a flood of questions is refused before it is sent, and those that wait are answered", async () => {
  const waiting: (() => void)[] = [];
  const { client } = link(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { about: {} };
  });
  const { ask } = asking(() => client);
  const asked = Array.from({ length: 4_100 }, async () => await ask("two", { kind: "kept", about: {} }));
  const settled = Promise.allSettled(asked);
  const answering = setInterval(() => waiting.splice(0).forEach((answer) => answer()), 20);
  const refused = (await settled).filter(({ status }) => status === "rejected");
  clearInterval(answering);
  expect(refused).toHaveLength(100);
  expect(refused.every((one) => (one as PromiseRejectedResult).reason.code === "NODE_SILENT")).toBe(true);
});
