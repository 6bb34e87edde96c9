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
  } as unknown as Parameters<typeof createPeerHost>[0]);
  const frames = { send: (head: FrameHead) => void sent.push(head), closed: new Promise(() => undefined) };
  const take = host.serve(frames as unknown as FrameStream);
  take({ k: "open", c: 1, instance: "notes", owner: null, server: "notes" }, Buffer.alloc(0));
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toMatchObject([{ k: "refused", c: 1, failure: { code: "INSTANCE_MOVED" } }]);
});
