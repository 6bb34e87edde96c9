import { expect, test } from "vitest";
import { createManualClock } from "../../../test/harness/manual-clock.ts";
import type { InstanceId, PrincipalId, ServerSlug } from "../../kernel/ids.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import { createEventThrottle } from "./event-throttle.ts";

const about = (instance: string, principal?: string) => ({
  atMs: 0,
  instance: instance as InstanceId,
  server: instance as ServerSlug,
  installation: instance as InstanceId,
  principal: principal as PrincipalId | undefined,
  team: undefined,
});
const line = (instance: string, text: string, principal?: string): PublishedEvent => ({
  type: "mcp.server.logs",
  ...about(instance, principal),
  level: "info",
  line: text,
});
const change = (from: InstanceStatus, to: InstanceStatus): PublishedEvent => ({
  type: "mcp.server.status_changed",
  ...about("a"),
  from,
  to,
  reason: "",
});

function createWorld() {
  const clock = createManualClock();
  const passed: { readonly event: PublishedEvent; readonly coalesced: number }[] = [];
  const lost: true[] = [];
  const pace = createEventThrottle({
    clock,
    pass: (event, coalesced) => void passed.push({ event, coalesced }),
    onLost: () => void lost.push(true),
  });
  return { clock, passed, lost, pace };
}

test("ten events of an instance pass at once; of the rest the newest comes in the next second and counts the others", async () => {
  const { clock, passed, pace } = createWorld();
  for (let count = 1; count <= 35; count += 1) pace.take(line("a", `line ${count}`));
  expect(passed).toHaveLength(10);
  await clock.advance(1_000);
  expect(passed.slice(10)).toMatchObject([{ event: { line: "line 35" }, coalesced: 24 }]);
  await clock.advance(1_000);
  pace.take(line("a", "later"));
  expect(passed.at(-1)).toMatchObject({ event: { line: "later" }, coalesced: 0 });
});

test("changes of status are joined from the first status to the last", async () => {
  const { clock, passed, pace } = createWorld();
  for (let count = 0; count < 10; count += 1) pace.take(line("a", "noise"));
  pace.take(change("online", "restarting"));
  pace.take(change("restarting", "connecting"));
  pace.take(change("connecting", "error"));
  await clock.advance(1_000);
  expect(passed.at(-1)).toMatchObject({ event: { from: "online", to: "error" }, coalesced: 2 });
});

test("instances, and people who use the same one, do not take each other's places", async () => {
  const { clock, passed, pace } = createWorld();
  for (let count = 0; count < 30; count += 1) pace.take(line("a", "noise", "alice"));
  pace.take(line("b", "of b", "alice"));
  pace.take(line("a", "of bob", "bob"));
  expect(passed.slice(-2)).toMatchObject([{ event: { line: "of b" } }, { event: { line: "of bob" } }]);
  await clock.advance(1_000);
  expect(passed.slice(12)).toMatchObject([{ event: { principal: "alice" }, coalesced: 19 }]);
});

test("what still waits counts against the next second", async () => {
  const { clock, passed, pace } = createWorld();
  for (let second = 0; second < 5; second += 1) {
    for (let count = 0; count < 100; count += 1) pace.take(line("a", "flood"));
    await clock.advance(1_000);
  }
  await clock.advance(2_000);
  expect(passed.length).toBeLessThanOrEqual(60);
  expect(passed.reduce((sum, { coalesced }) => sum + 1 + coalesced, 0)).toBe(500);
});

test("more instances in a second than can be told apart are said to be lost", () => {
  const { lost, passed, pace } = createWorld();
  for (let count = 0; count < 1_001; count += 1) pace.take(line(`instance-${count}`, "x"));
  expect(passed).toHaveLength(1_000);
  expect(lost).toHaveLength(1);
});

test("one that was disposed passes nothing more", async () => {
  const { clock, passed, pace } = createWorld();
  for (let count = 0; count < 30; count += 1) pace.take(line("a", "noise"));
  pace[Symbol.dispose]();
  await clock.advance(5_000);
  expect(passed).toHaveLength(10);
});
