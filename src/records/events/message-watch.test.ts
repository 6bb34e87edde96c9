import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { MessageTap, TapPeer } from "../../kernel/events/message-tap.ts";
import { createRedaction } from "../redaction/redaction.ts";
import { createMessageWatch, type MessageReader, type SeenMessage } from "./message-watch.ts";

const secret = "s3cr3t-of-a-server-9f86d081";
const client: TapPeer = { side: "client", key: "c", name: "editor", principal: "ann" as PrincipalId };
const server: TapPeer = { side: "server", key: "s", name: "files", instance: "files" as InstanceId };

function watch() {
  const tap: MessageTap = { take: undefined };
  const clock = createManualClock();
  const redaction = createRedaction({ secrets: () => new Set([secret]) });
  const watching = createMessageWatch({ tap, clock, redact: (text) => redaction.json(text) });
  const follow = (more: Partial<MessageReader> = {}) => {
    const seen: SeenMessage[] = [];
    const lost: number[] = [];
    const leave = watching.follow({
      sees: () => true,
      isFull: () => false,
      onMessage: (message) => seen.push(message),
      onLost: (count) => lost.push(count),
      ...more,
    });
    return { seen, lost, leave };
  };
  return { tap, clock, follow };
}

const request = (id: number, method: string, params = "{}"): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

test("the tap is there while somebody follows, and not before or after", () => {
  const { tap, follow } = watch();
  expect(tap.take).toBeUndefined();
  const [one, other] = [follow(), follow()];
  expect(tap.take).toBeTypeOf("function");
  one.leave();
  one.leave();
  expect(tap.take).toBeTypeOf("function");
  other.leave();
  expect(tap.take).toBeUndefined();
});

test("an answer has the method of its request and the time since, on both sides, whatever ids they share", async () => {
  const { tap, clock, follow } = watch();
  const { seen } = follow();
  tap.take?.(client, "in", Buffer.from(request(1, "tools/call")));
  tap.take?.(server, "out", request(1, "tools/list"));
  await clock.advance(30);
  tap.take?.(server, "in", Buffer.from('{"result":{},"jsonrpc":"2.0","id":1}'));
  tap.take?.(client, "out", ['{"jsonrpc":"2.0","id":1,', Buffer.from('"error":{"code":-32603,"message":"no"}'), "}"]);
  tap.take?.(server, "in", Buffer.from('{"jsonrpc":"2.0","method":"notifications/progress"}'));
  tap.take?.(server, "in", Buffer.from("not JSON"));
  tap.take?.(server, "in", Buffer.from("Forbidden"), 403);
  await clock.advance(1_000);
  expect(seen.map(({ side, way, kind, method, id, tookMs, status }) => [side, way, kind, method, id, tookMs, status]))
    // As they passed.
    .toEqual([
      ["client", "in", "request", "tools/call", "1", null, null],
      ["server", "out", "request", "tools/list", "1", null, null],
      ["server", "in", "result", "tools/list", "1", 30, null],
      ["client", "out", "error", "tools/call", "1", 30, null],
      ["server", "in", "notification", "notifications/progress", null, null, null],
      ["server", "in", "unknown", null, null, null, null],
      ["server", "in", "refusal", null, null, null, 403],
    ]);
  expect(seen[0]).toMatchObject({ name: "editor", principal: "ann", instance: null });
  expect(seen[1]).toMatchObject({ name: "files", principal: null, instance: "files" });
});

test("a client that says its name in the message is named, in the answer too", async () => {
  const { tap, clock, follow } = watch();
  const { seen } = follow();
  const stranger: TapPeer = { ...client, name: undefined };
  tap.take?.(stranger, "in", request(7, "initialize", '{"clientInfo":{"name":"newcomer"}}'));
  tap.take?.(stranger, "out", '{"jsonrpc":"2.0","id":7,"result":{}}');
  await clock.advance(100);
  expect(seen.map(({ name }) => name)).toEqual(["newcomer", "newcomer"]);
});

test("FAULT J: no secret is shown, also where it is cut through, and a long message says how long it was", async () => {
  const { tap, clock, follow } = watch();
  const { seen } = follow();
  const argument = `{"password":"p4ss","note":"${secret}"}`;
  tap.take?.(client, "in", request(1, "tools/call", argument));
  for (let shift = 0; shift < secret.length; shift += 1) {
    const filler = "x".repeat(16_384 + 1_024 - 40 - shift);
    tap.take?.(server, "in", Buffer.from(`{"result":{"text":"${filler}${secret}"},"jsonrpc":"2.0","id":${shift}}`));
  }
  await clock.advance(10_000);
  expect(JSON.parse(seen[0]?.text ?? "")).toMatchObject({ params: { password: "[redacted]", note: "[redacted]" } });
  const long = seen.slice(1);
  expect(long).toHaveLength(secret.length);
  for (const { text, isCut, bytes, kind, id } of long) {
    expect(text).not.toContain(secret.slice(0, 6));
    expect([isCut, kind, id]).toEqual([true, "result", expect.stringMatching(/^\d+$/)]);
    expect(bytes).toBeGreaterThan(text.length);
  }
});

test("what comes faster than it is told is left out and counted, of each reader what that reader would have seen", async () => {
  const { tap, clock, follow } = watch();
  const all = follow();
  const ofServers = follow({ sees: ({ side }) => side === "server" });
  for (let id = 0; id < 1_500; id += 1) tap.take?.(id % 2 === 0 ? client : server, "out", request(id, "ping"));
  await clock.advance(60_000);
  expect([all.seen.length, all.lost]).toEqual([1_000, [500]]);
  expect([ofServers.seen.length, ofServers.lost]).toEqual([500, [250]]);
  tap.take?.(server, "out", request(1, "ping"));
  await clock.advance(100);
  expect([all.seen.length, all.lost]).toEqual([1_001, [500]]);
});

test("a reader that does not read misses messages alone, and is told how many", async () => {
  const { tap, clock, follow } = watch();
  let isFull = true;
  const slow = follow({ isFull: () => isFull });
  const quick = follow();
  for (const id of [1, 2, 3]) tap.take?.(client, "in", request(id, "ping"));
  await clock.advance(100);
  isFull = false;
  tap.take?.(client, "in", request(4, "ping"));
  await clock.advance(100);
  expect([quick.seen.length, quick.lost]).toEqual([4, []]);
  expect([slow.seen.map(({ id }) => id), slow.lost]).toEqual([["4"], [3]]);
});
