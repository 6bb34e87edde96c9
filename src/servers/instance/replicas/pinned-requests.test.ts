import { expect, test } from "vitest";
import type { UpstreamRequest } from "../../upstream/connection.ts";
import { createPinned } from "./pinned-requests.ts";
import type { Replica } from "./replica.ts";

interface Told {
  readonly replica: Replica;
  readonly requests: string[];
}

function replica(): Told {
  const requests: string[] = [];
  const calls = {
    running: 0,
    async request({ method, params }: UpstreamRequest) {
      requests.push(`${method} ${String(params[0]?.[1])}`);
      return await Promise.resolve({ kind: "result", result: Buffer.from("{}") });
    },
  };
  return { replica: { calls, link: { current: {} } } as unknown as Replica, requests };
}

function wanted(method: string, key: string, value: string): UpstreamRequest {
  const signal = new AbortController().signal;
  return { method, params: [[key, Buffer.from(value)]], signal, timeoutMs: 1_000, maxTimeoutMs: 1_000 };
}

test("a subscription stays with one, which is asked to end it, and is made again at another when that is down", async () => {
  const [a, b] = [replica(), replica()];
  let up = [a, b];
  const pinned = createPinned(() => up.map((one) => one.replica));
  await pinned.request(wanted("resources/subscribe", "uri", "x://1"));
  await pinned.request(wanted("resources/subscribe", "uri", "x://1"));
  expect([a.requests.length, b.requests.length]).toEqual([2, 0]);
  up = [b];
  pinned.noteDown(a.replica);
  expect(b.requests).toEqual(["resources/subscribe x://1"]);
  await pinned.request(wanted("resources/unsubscribe", "uri", "x://1"));
  expect(b.requests.at(-1)).toBe("resources/unsubscribe x://1");
  pinned.noteDown(b.replica);
  expect(b.requests).toHaveLength(2);
});

test("the level of logging goes to all, and to one that comes up later", async () => {
  const [a, b, late] = [replica(), replica(), replica()];
  const pinned = createPinned(() => [a.replica, b.replica]);
  pinned.noteUp(late.replica);
  expect(late.requests).toEqual([]);
  await pinned.request(wanted("logging/setLevel", "level", '"debug"'));
  pinned.noteUp(late.replica);
  for (const { requests } of [a, b, late]) expect(requests).toEqual(['logging/setLevel "debug"']);
});

test("with none up, both are refused", async () => {
  const pinned = createPinned(() => []);
  for (const method of ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
    await expect(pinned.request(wanted(method, "uri", "x://1"))).rejects.toMatchObject({ code: "UPSTREAM_CLOSED" });
});
