import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { until } from "../../../../test/harness/until.ts";
import { createConnectionRoom } from "./body-room.ts";
import { createHttpListener } from "../http-listener.ts";

test("one address has its share, one that stands for many has what there is, and places come back", () => {
  const room = createConnectionRoom({ ofAll: 5, ofOne: 2, isShared: (address) => address === "proxy" });
  const leave = room.take("a");
  expect([room.take("a"), room.take("a")]).toEqual([expect.any(Function), undefined]);
  expect([1, 2, 3, 4].map(() => room.take("proxy") !== undefined)).toEqual([true, true, true, false]);
  expect(room.take("b")).toBeUndefined();
  leave?.();
  expect([room.take("b"), room.take("a")]).toEqual([expect.any(Function), undefined]);
});

test("a connection too many is told so and ends, and the others go on", async () => {
  const listener = createHttpListener({
    handle: (_request, response) => void response.end("here"),
    refuse: () => undefined,
    bodyTimeoutMs: 10_000,
    room: createConnectionRoom({ ofAll: 10, ofOne: 2, isShared: () => false }),
  });
  const { port }: AddressInfo = await listener.listen("127.0.0.1", 0);
  const open = async (): Promise<{ readonly socket: Socket; said: string }> => {
    const socket = connect(port, "127.0.0.1");
    const one = { socket, said: "" };
    socket.on("data", (chunk: Buffer) => (one.said += chunk.toString())).on("error", () => undefined);
    await once(socket, "connect");
    return one;
  };
  try {
    const [first, second, third] = [await open(), await open(), await open()];
    await until(() => third.socket.destroyed);
    expect(third.said).toMatch(/^HTTP\/1\.1 503 [^]*"code":"TOO_MANY_CONNECTIONS"/);
    first.socket.destroy();
    second.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => second.said.endsWith("here"));
    await until(async () => {
      const next = await open();
      next.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await until(() => next.said !== "");
      return next.said.endsWith("here");
    });
  } finally {
    listener.close();
  }
});
