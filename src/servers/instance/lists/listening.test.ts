import { expect, test } from "vitest";
import { createManualClock, settle } from "../../../../test/harness/manual-clock.ts";
import { toJsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { Connection, Reply, UpstreamRequest } from "../../upstream/connection.ts";
import { listenForChanges } from "./listening.ts";

/** A connection whose requests are settled by hand. */
function fakeConnection(era: "modern" | "legacy", capabilities: object) {
  const asked: { readonly request: UpstreamRequest; settle(reply: Reply): void; fail(): void }[] = [];
  const connection = {
    peer: { era, capabilities },
    request: async (request: UpstreamRequest) =>
      await new Promise<Reply>((settleIt, reject) => {
        request.signal.addEventListener("abort", () => reject(new Error("aborted")));
        asked.push({ request, settle: settleIt, fail: () => reject(new Error("broke off")) });
      }),
  };
  return { asked, connection: connection as unknown as Connection };
}

const changing = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };

test("a modern server is asked for exactly what it declares", () => {
  const { asked, connection } = fakeConnection("modern", changing);
  const listening = listenForChanges(connection, createManualClock());
  expect(asked).toHaveLength(1);
  expect(asked[0]?.request.method).toBe("subscriptions/listen");
  expect(asked[0]?.request.params.map(([key, value]) => [key, JSON.parse(String(value))])).toEqual([
    ["notifications", { toolsListChanged: true, promptsListChanged: true }],
  ]);
  expect(listening).toMatchObject({ open: 1, works: true });
});

test("legacy servers, and those that never change, are not asked", () => {
  for (const [era, capabilities] of [
    ["legacy", changing],
    ["modern", { tools: {} }],
  ] as const) {
    const { asked, connection } = fakeConnection(era, capabilities);
    expect(listenForChanges(connection, createManualClock())).toMatchObject({ open: 0, works: false });
    expect(asked).toEqual([]);
  }
});

test("a stream that ends is opened again, later each time; after the stop never", async () => {
  const clock = createManualClock();
  const { asked, connection } = fakeConnection("modern", changing);
  const listening = listenForChanges(connection, clock);
  asked[0]?.fail();
  await clock.advance(999);
  expect(asked).toHaveLength(1);
  expect(listening.open).toBe(0);
  await clock.advance(1);
  expect(asked).toHaveLength(2);
  asked[1]?.settle({ kind: "result", result: toJsonBytes({}) });
  await clock.advance(2_000);
  expect(asked).toHaveLength(3);
  listening.stop();
  await settle();
  await clock.advance(1_000_000);
  expect(asked).toHaveLength(3);
});

test("a refusal is final: the lists are then fetched from time to time", async () => {
  const clock = createManualClock();
  const { asked, connection } = fakeConnection("modern", changing);
  const listening = listenForChanges(connection, clock);
  asked[0]?.settle({ kind: "error", error: toJsonBytes({ code: -32601, message: "no" }) });
  await clock.advance(1_000_000);
  expect(asked).toHaveLength(1);
  expect(listening.works).toBe(false);
});
