import { expect, test } from "vitest";
import type { Instance } from "../../servers/instance/instance.ts";
import type { FrameHead, FrameStream } from "./frames.ts";
import { createPeerHost } from "./peer-host.ts";

test("a node without a lease says at once that another one is to run the server, and starts nothing", async () => {
  const sent: FrameHead[] = [];
  const host = createPeerHost({
    node: "one",
    find: () => ({ acquire: () => expect.unreachable("it is not started") }) as unknown as Instance,
    ...{ holds: () => false, mayServe: () => false, isStopping: () => false },
    tell: async () => ({}),
    answerOf: () => undefined,
  } as unknown as Parameters<typeof createPeerHost>[0]);
  const frames = { send: (head: FrameHead) => void sent.push(head), closed: new Promise(() => undefined) };
  const take = host.serve(frames as unknown as FrameStream);
  take({ k: "open", c: 1, instance: "notes", owner: null, server: "notes" }, Buffer.alloc(0));
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toMatchObject([{ k: "refused", c: 1, failure: { code: "INSTANCE_MOVED" } }]);
});

test("an instance that another node leaves is told of nothing more there, and what it worked on for it is ended", async () => {
  const sent: FrameHead[] = [];
  const signals: AbortSignal[] = [];
  const connection = {
    ...{ peer: { era: "legacy" }, closed: new Promise(() => undefined) },
    request: async ({ signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      return await new Promise(() => undefined);
    },
  };
  const waiting: ((connection: unknown) => void)[] = [];
  let isStarting = false;
  const acquire = () => (isStarting ? new Promise((resolve) => waiting.push(resolve)) : connection);
  const instance = { id: "notes", acquire, server: { slug: "notes" } } as unknown as Instance;
  const host = createPeerHost({
    ...{ node: "one", find: () => instance, tell: async () => ({}), answerOf: () => undefined },
    follow: () => () => undefined,
    ...{ holds: () => true, mayServe: () => true, isStopping: () => false },
  });
  const frames = { send: (head: FrameHead) => void sent.push(head), closed: new Promise(() => undefined) };
  const take = host.serve(frames as unknown as FrameStream);
  const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
  const about = { instance: "notes", owner: null, server: "notes" };
  for (let c = 1; c <= 3; c += 1) {
    take({ k: "open", c, ...about }, Buffer.alloc(0));
    await turn();
    take({ k: "request", c, id: 1, method: "tools/call", lengths: [], wants: {} }, Buffer.alloc(0));
    take({ k: "close", c }, Buffer.alloc(0));
  }
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  // One that is left before the server is up is never opened.
  isStarting = true;
  take({ k: "open", c: 4, ...about }, Buffer.alloc(0));
  await turn();
  take({ k: "close", c: 4 }, Buffer.alloc(0));
  for (const settle of waiting) settle(connection);
  await turn();
  sent.length = 0;
  host.tellEvent("notes", "notifications/tools/list_changed", {});
  expect(sent).toEqual([]);
});
