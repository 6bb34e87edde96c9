import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { switchedOff } from "../config/entry/servers.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import type { PrincipalId } from "../kernel/ids.ts";
import type { Instance } from "../servers/instance/instance.ts";
import type { InstanceState } from "../servers/instance/state.ts";
import { latencyBoundsMs } from "../store/record-rows.ts";
import { memoryOf, nextStep, p95Of, sinceOf } from "./server-standing.ts";

const cause = new GatewayError("CONNECT_FAILED", "no");

function stepOf(state: InstanceState, owner: string | null = null, id = "linear") {
  const server = { slug: "linear" } as Instance["server"];
  return nextStep({ state, server, owner: owner as PrincipalId | null, id: id as Instance["id"] });
}

test.each<[InstanceState, string | null | undefined]>([
  [{ kind: "needs-login", cause, sinceMs: 1 }, "toolyard login linear"],
  [{ kind: "error", cause, sinceMs: 1 }, "toolyard logs linear"],
  [{ kind: "failed", cause, sinceMs: 1 }, "toolyard logs linear"],
  [{ kind: "offline", cause, sinceMs: 1 }, "toolyard restart linear"],
  [{ kind: "stopped", sinceMs: 1 }, "toolyard restart linear"],
  [{ kind: "unconfigured", missing: ["API_KEY"] }, null],
  [{ kind: "disabled", reason: "off" }, null],
  [{ kind: "online", sinceMs: 1 }, undefined],
  [{ kind: "dormant", sinceMs: 1 }, undefined],
  [{ kind: "backoff", cause, retryAtMs: 1 }, undefined],
])("what to do about %j is %j", (state, command) => {
  expect(stepOf(state)?.command).toBe(command);
});

test("an entry with a mistake is corrected, one that was switched off is enabled, and what was stopped is started", () => {
  const states: readonly InstanceState[] = [
    { kind: "disabled", reason: "the variable KEY is not set" },
    { kind: "disabled", reason: switchedOff },
    { kind: "stopped", sinceMs: 1 },
  ];
  expect(states.map((state) => stepOf(state)?.step)).toEqual(["correct", "enable", "start"]);
});

test("values that are missing are named", () => {
  expect(stepOf({ kind: "unconfigured", missing: ["API_KEY", "REGION"] })?.text).toBe(
    "Give it values: API_KEY, REGION.",
  );
});

test("commands about somebody's own instance name that person, and the instance, safely for a shell", () => {
  const login = stepOf({ kind: "needs-login", cause, sinceMs: 1 }, "it's me");
  expect(login?.command).toBe("toolyard login linear --principal 'it'\\''s me'");
  expect(stepOf({ kind: "needs-login", cause, sinceMs: 1 }, "local")?.command).toBe("toolyard login linear");
  const logs = stepOf({ kind: "error", cause, sinceMs: 1 }, "a b", "linear-none-a b-12");
  expect(logs?.command).toBe("toolyard logs 'linear-none-a b-12'");
});

test("since when is known where the state has it", () => {
  expect(sinceOf({ kind: "online", sinceMs: 5 })).toBe(5);
  expect(sinceOf({ kind: "new" })).toBeUndefined();
});

/** So many calls in the bucket of that bound. */
function bucketsOf(counts: Readonly<Record<number, number>>): number[] {
  return [...latencyBoundsMs, Number.POSITIVE_INFINITY].map((bound) => counts[bound] ?? 0);
}

test.each([
  ["no calls", {}, 0, null],
  ["all of them quick", { 5: 100 }, 4.5, 4.5],
  ["five of a hundred slow", { 5: 95, 1000: 5 }, 900, 5],
  ["six of a hundred slow", { 5: 94, 1000: 6 }, 900, 900],
  ["slower than the last bound", { [Number.POSITIVE_INFINITY]: 1 }, 90_000, 90_000],
  ["never more than the bound", { 5: 10, 250: 90 }, 240, 240],
])("95 of 100 calls: %s", (_what, counts, durationMsMax, expected) => {
  expect(p95Of({ buckets: bucketsOf(counts), durationMsMax })).toBe(expected);
});

test("memory is that of the whole tree of processes, and unknown without one", async () => {
  const hog = `const held = Buffer.alloc(60_000_000, 1); process.stdout.write("up"); setInterval(() => held.length, 1e6)`;
  const child = spawn("sh", ["-c", `"${process.execPath}" -e '${hog}' & wait`], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    await once(child.stdout, "data");
    expect(memoryOf([child.pid])).toBeGreaterThan(60_000_000);
  } finally {
    const gone = once(child, "exit");
    const kill = spawn("sh", ["-c", `for c in $(cat /proc/${child.pid}/task/*/children); do kill $c; done`]);
    await once(kill, "exit");
    await gone;
  }
  expect(memoryOf([child.pid])).toBeNull();
  expect(memoryOf([undefined])).toBeNull();
});
