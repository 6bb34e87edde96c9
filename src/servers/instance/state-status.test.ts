import { expect, test } from "vitest";
import { unavailableLine } from "../../catalog/exposure/discover/discover-servers.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { instanceStatuses, dormantRow, statusTable } from "../../kernel/status-words.ts";
import { decideAcquire, transition, type InstanceState } from "./state.ts";
import { toReason, toRefusal, toStatus } from "./state-status.ts";

const cause = new GatewayError("SPAWN_FAILED", "cannot start x", { data: { stderr: ["boom"] } });
const starting = { kind: "starting", sinceMs: 0, why: "first" } as const;
const startAgain = { kind: "start", why: "recovery" } as const;
const states: readonly InstanceState[] = [
  { kind: "disabled", reason: "switched off" },
  { kind: "unconfigured", missing: ["env.TOKEN"] },
  { kind: "new" },
  { ...starting, phase: "commanded" },
  { ...starting, phase: "queued" },
  { ...starting, phase: "connecting" },
  { ...starting, phase: "discovering" },
  { ...starting, phase: "syncing" },
  { kind: "online", sinceMs: 0 },
  { kind: "dormant", sinceMs: 0 },
  { kind: "backoff", retryAtMs: 0, cause },
  { kind: "offline", cause, sinceMs: 0 },
  { kind: "error", cause, sinceMs: 0 },
  { kind: "needs-login", cause, sinceMs: 0 },
  { kind: "failed", cause, sinceMs: 0 },
  { kind: "stopped", sinceMs: 0 },
  { kind: "removed", why: "unconfigured" },
  { kind: "removed", why: "reconfigured" },
  { kind: "removed", why: "stopping" },
];

test("every status comes from some state, and every state has one of the table's", () => {
  expect(new Set(states.map(toStatus))).toEqual(new Set(instanceStatuses));
  expect(Object.keys(statusTable).sort()).toEqual([...instanceStatuses].sort());
});

test.each(states)("what the table says that execute does is what decideAcquire does: $kind $phase", (state) => {
  const row = state.kind === "dormant" ? dormantRow : statusTable[toStatus(state)];
  const hasConnection =
    state.kind === "online" ||
    (state.kind === "starting" && (state.phase === "discovering" || state.phase === "syncing"));
  const later = decideAcquire(state, {
    nowMs: 10_000_000,
    lastTryMs: 0,
    hasConnection,
    callRetryMs: 1_000,
    failedRetryMs: 600_000,
  });
  const wanted = {
    call: "calls",
    wait: "waits",
    start: row.execute === "tries" ? "tries" : "waits",
    refuse: "refuses",
  } as const;
  expect(row.execute).toBe(wanted[later]);
});

test("a server that is tried again is shown as it was until it answers", () => {
  const down: InstanceState = { kind: "offline", cause, sinceMs: 0 };
  const trying = transition(down, { kind: "start", why: "recovery" }, 1);
  expect([toStatus(trying), toReason(trying)]).toEqual(["offline", "cannot start x"]);
  const answering = transition(trying, { kind: "phase", phase: "discovering" }, 2);
  expect(toStatus(answering)).toBe("discovering_tools");
  expect(toStatus(transition(down, { kind: "start", why: "restart" }, 1))).toBe("command_received");
});

test("a server that crashed is restarting until it answers, and says what it wrote last", () => {
  const crash = (stderr: readonly string[]): InstanceState => ({
    kind: "backoff",
    retryAtMs: 0,
    cause: new GatewayError("UPSTREAM_CLOSED", "x exited with code 1", { data: { stderr } }),
  });
  const again = transition(
    crash(["one", "Error: no such module", "  at emitError (x)", "", "two", "three"]),
    startAgain,
    1,
  );
  expect([toStatus(again), toReason(again)]).toEqual([
    "restarting",
    "x exited with code 1; its last output: Error: no such module | two | three",
  ]);
  expect(toReason(crash(["one", "two", "three", "four"]))).toMatch(/: two \| three \| four$/);
  expect(toReason(crash([]))).toBe("x exited with code 1");
  expect(toReason(crash(["y".repeat(4_000)])).length).toBeLessThan(300);
});

test("tools are hidden exactly where a call would not be answered by them", () => {
  const hidden = instanceStatuses.filter((status) => !statusTable[status].shown);
  expect(hidden).toEqual([
    "awaiting_user_config",
    "offline",
    "error",
    "requires_reauth",
    "permanently_failed",
    "disabled",
  ]);
});

test("discover says what the table says", () => {
  for (const status of instanceStatuses) {
    const line = unavailableLine({ server: "github", status });
    expect(line.reason).toBe(statusTable[status].reason);
    expect(line.action).toBe(statusTable[status].action.replaceAll("{server}", "github"));
  }
  expect(unavailableLine({ server: "github", status: "dormant" })).toMatchObject({
    reason: dormantRow.reason,
    action: dormantRow.action,
  });
});

test.each(states)("a refused call is told which server and why: $kind $phase", (state) => {
  const refusal = toRefusal("github", state);
  expect(refusal.hint).not.toBe("");
  if (state.kind === "error") expect(refusal).toMatchObject({ code: "SPAWN_FAILED", data: { stderr: ["boom"] } });
  else expect(refusal.message).toContain("github");
  if (state.kind === "failed") expect(refusal.data).toEqual({ stderr: ["boom"] });
  const tells = state.kind === "failed" || state.kind === "backoff" || state.kind === "error";
  const summary = tells ? "; its last output: boom" : "";
  if ("cause" in state) expect(toReason(state)).toBe(`cannot start x${summary}`);
  expect(refusal).not.toBe(cause);
});
