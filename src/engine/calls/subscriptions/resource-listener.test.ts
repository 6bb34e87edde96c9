import { expect, test } from "vitest";
import type { Closed, Connection, Reply, UpstreamRequest } from "../../../servers/upstream/connection.ts";
import { createResourceListener } from "./resource-listener.ts";
import { untilPasses } from "../../../../test/harness/until-passes.ts";

const never = new AbortController().signal;

interface Listen {
  readonly uris: readonly string[];
  readonly isOpen: () => boolean;
  readonly end: () => void;
}

/** A server that accepts every subscription except those that contain a URI with `bad` in it. */
function serverThatListens() {
  const listens: Listen[] = [];
  let close: ((how: Closed) => void) | undefined;
  const connection = {
    closed: new Promise<Closed>((resolve) => (close = resolve)),
    request(request: UpstreamRequest): Promise<Reply> {
      const { resourceSubscriptions: uris } = JSON.parse(String(request.params[0]?.[1])) as {
        resourceSubscriptions: string[];
      };
      if (uris.some((uri) => uri.includes("bad")))
        return Promise.resolve({ kind: "error", error: Buffer.from('{"code":-32602,"message":"no such resource"}') });
      let isOpen = true;
      return new Promise((resolve, reject) => {
        const end = () => {
          isOpen = false;
          resolve({ kind: "result", result: Buffer.from("{}") });
        };
        request.signal.addEventListener("abort", () => {
          isOpen = false;
          reject(request.signal.reason as Error);
        });
        listens.push({ uris, isOpen: () => isOpen, end });
        queueMicrotask(() => request.replies?.send("{}"));
      });
    },
  } as unknown as Connection;
  const open = (): string[][] => listens.filter(({ isOpen }) => isOpen()).map(({ uris }) => [...uris].sort());
  return { listener: createResourceListener(connection, "s"), listens, open, close: () => close?.({ kind: "asked" }) };
}

test("many resources are listened to together, and a changed set replaces the one before", async () => {
  const { listener, open } = serverThatListens();
  const ended = new AbortController();
  await listener.watch("r:1", never);
  await Promise.all([listener.watch("r:2", ended.signal), listener.watch("r:3", never)]);
  expect(open()).toEqual([["r:1", "r:2", "r:3"]]);
  ended.abort(new Error("enough"));
  await untilPasses(() => expect(open()).toEqual([["r:1", "r:3"]]));
});

test("a thousand resources take four streams", async () => {
  const { listener, open } = serverThatListens();
  await Promise.all(Array.from({ length: 1_000 }, (_, index) => listener.watch(`r:${index}`, never)));
  expect(open().map(({ length }) => length)).toEqual([256, 256, 256, 232]);
});

test("one that is refused takes no other with it", async () => {
  const { listener, open } = serverThatListens();
  const uris = ["r:1", "r:bad", "r:2"];
  const outcomes = await Promise.allSettled(uris.map((uri) => listener.watch(uri, never)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(outcomes[1]).toMatchObject({ reason: { code: "UPSTREAM_PROTOCOL" } });
  expect(open()).toEqual([["r:1", "r:2"]]);
});

test("what is watched again at once is listened to again", async () => {
  const { listener, open } = serverThatListens();
  const ended = new AbortController();
  await listener.watch("r:1", ended.signal);
  ended.abort(new Error("enough"));
  await listener.watch("r:1", never);
  await untilPasses(() => expect(open()).toEqual([["r:1"]]));
});

test("a stream that breaks off is opened again; with the connection it is over", async () => {
  const { listener, listens, open, close } = serverThatListens();
  await listener.watch("r:1", never);
  listens[0]?.end();
  await untilPasses(() => expect(open()).toEqual([["r:1"]]));
  close();
  await expect(listener.watch("r:2", never)).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
});
