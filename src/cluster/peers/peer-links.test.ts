import { expect, onTestFinished, test } from "vitest";
import { createPeerNetwork, Unreachable } from "./peer-links.ts";

const key = new Uint8Array(32).fill(1);

async function listen(id: string, epoch: number, withKey = key) {
  const network = createPeerNetwork({
    ...{ key: withKey, me: () => ({ id, epoch }), host: "127.0.0.1", port: 0, bodyBytes: 1_000_000 },
    onPeer: () => () => undefined,
  });
  onTestFinished(async () => await network.close());
  return { network, address: `127.0.0.1:${await network.listen()}` };
}

async function whyNot(dialling: Promise<unknown>): Promise<Unreachable> {
  return (await dialling.then(
    () => expect.unreachable("it was reached"),
    (error: unknown) => error,
  )) as Unreachable;
}

test("a node is reached by its name and life", async () => {
  const [{ network }, { address }] = [await listen("one", 1), await listen("two", 7)];
  expect((await network.dial({ id: "two", epoch: 7, address })).peer).toEqual({ id: "two", epoch: 7 });
});

test("a closed port and a later life of the node prove that the life is over; nothing else does", async () => {
  const [{ network }, { network: other, address }] = [await listen("one", 1), await listen("two", 7)];
  const dial = async (id: string, epoch: number) => await whyNot(network.dial({ id, epoch, address }));
  expect(await dial("two", 6)).toMatchObject({ isGone: true });
  // This node knows of a later life than the one that still answers.
  expect(await dial("two", 8)).toMatchObject({ isGone: false });
  // Both may have been given the address of a balancer.
  expect(await dial("three", 7)).toMatchObject({ isGone: false, message: expect.stringContaining("is two") });
  await other.close();
  expect(await dial("two", 7)).toMatchObject({ isGone: true });
});

test("a node with another key is not reached, which proves nothing", async () => {
  const [{ network }, { address }] = [await listen("one", 1), await listen("two", 7, new Uint8Array(32).fill(2))];
  const why = await whyNot(network.dial({ id: "two", epoch: 7, address }));
  expect(why).toBeInstanceOf(Unreachable);
  expect(why.isGone).toBe(false);
});
