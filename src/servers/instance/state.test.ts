import { describe, expect, test } from "vitest";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { decideAcquire, transition, type AcquireFacts, type InstanceEvent, type InstanceState } from "./state.ts";

const cause = new GatewayError("UPSTREAM_CLOSED", "x exited with code 1");
const nowMs = 1_000;

const states: { readonly [Kind in InstanceState["kind"]]: Extract<InstanceState, { kind: Kind }> } = {
  disabled: { kind: "disabled", reason: "switched off" },
  unconfigured: { kind: "unconfigured", missing: ["env.TOKEN"] },
  new: { kind: "new" },
  starting: { kind: "starting", phase: "connecting", sinceMs: 0, why: "first" },
  online: { kind: "online", sinceMs: 0 },
  dormant: { kind: "dormant", sinceMs: 0 },
  backoff: { kind: "backoff", retryAtMs: 5_000, cause },
  offline: { kind: "offline", cause, sinceMs: 0 },
  error: { kind: "error", cause, sinceMs: 0 },
  "needs-login": { kind: "needs-login", cause, sinceMs: 0 },
  failed: { kind: "failed", cause, sinceMs: 0 },
  stopped: { kind: "stopped", sinceMs: 0 },
  removed: { kind: "removed", why: "unconfigured" },
};

const events: { readonly [name: string]: InstanceEvent } = {
  start: { kind: "start", why: "demand" },
  restart: { kind: "start", why: "restart" },
  phase: { kind: "phase", phase: "discovering" },
  started: { kind: "started" },
  "start-failed": { kind: "start-failed", cause },
  crash: { kind: "crashed", cause, verdict: { kind: "restart", afterMs: 1_000 } },
  "last crash": { kind: "crashed", cause, verdict: { kind: "give-up" } },
  unreachable: { kind: "unreachable", cause },
  "refused-login": { kind: "refused-login", cause },
  idle: { kind: "idle" },
  stop: { kind: "stop" },
  remove: { kind: "remove", why: "unconfigured" },
};

/** Every event, and the state that each state goes to; `=` is the very same object. */
const same = "=";
const live = [
  "new",
  "starting",
  "online",
  "dormant",
  "backoff",
  "offline",
  "error",
  "needs-login",
  "failed",
  "stopped",
] as const;
const expected: Readonly<Record<string, (from: (typeof live)[number]) => string>> = {
  start: (from) => (from === "online" || from === "starting" ? same : "starting"),
  restart: () => "starting",
  phase: (from) => (from === "starting" ? "starting" : same),
  started: (from) => (from === "starting" ? "online" : same),
  "start-failed": () => "error",
  crash: (from) => (from === "stopped" || from === "dormant" ? same : "backoff"),
  "last crash": (from) => (from === "stopped" || from === "dormant" ? same : "failed"),
  unreachable: (from) => (from === "stopped" ? same : "offline"),
  "refused-login": (from) => (from === "stopped" ? same : "needs-login"),
  idle: (from) => (from === "online" || from === "new" ? "dormant" : same),
  stop: () => "stopped",
  remove: () => "removed",
};

describe("transition", () => {
  for (const [name, event] of Object.entries(events)) {
    test.each(live)(`${name} in %s`, (kind) => {
      const from = states[kind];
      const to = transition(from, event, nowMs);
      const wanted = expected[name]?.(kind);
      if (wanted === same) expect(to).toBe(from);
      else expect(to.kind).toBe(wanted);
    });

    test(`${name} changes nothing of what the configuration does not want, but for its removal`, () => {
      for (const from of [states.disabled, states.unconfigured]) {
        if (event.kind === "remove") expect(transition(from, event, nowMs).kind).toBe("removed");
        else expect(transition(from, event, nowMs)).toBe(from);
      }
      expect(transition(states.removed, event, nowMs).kind).toBe("removed");
    });
  }

  test("a crash is retried when its verdict says so", () => {
    expect(transition(states.online, events["crash"] as InstanceEvent, nowMs)).toEqual({
      kind: "backoff",
      retryAtMs: 2_000,
      cause,
    });
  });
});

describe("decideAcquire", () => {
  const facts: AcquireFacts = {
    nowMs: 10_000,
    lastTryMs: 9_500,
    hasConnection: false,
    callRetryMs: 1_000,
    failedRetryMs: 600_000,
  };

  test.each([
    ["disabled", "refuse"],
    ["unconfigured", "refuse"],
    ["new", "start"],
    ["starting", "wait"],
    ["online", "wait"],
    ["dormant", "start"],
    ["backoff", "wait"],
    ["offline", "refuse"],
    ["error", "refuse"],
    ["needs-login", "refuse"],
    ["failed", "refuse"],
    ["stopped", "refuse"],
    ["removed", "refuse"],
  ] as const)("%s without a connection, tried half a second ago: %s", (kind, wanted) => {
    expect(decideAcquire(states[kind], facts)).toBe(wanted);
  });

  test("a connection is used as soon as it is there, also while the tools are still listed", () => {
    for (const kind of ["online", "starting"] as const)
      expect(decideAcquire(states[kind], { ...facts, hasConnection: true })).toBe("call");
  });

  test("a server that is down is tried at most once a second", () => {
    for (const kind of ["offline", "error"] as const) {
      expect(decideAcquire(states[kind], { ...facts, lastTryMs: 9_000 })).toBe("start");
      expect(decideAcquire(states[kind], { ...facts, lastTryMs: undefined })).toBe("start");
    }
  });

  test("one that was given up is tried once in ten minutes", () => {
    expect(decideAcquire(states.failed, { ...facts, nowMs: 599_999 })).toBe("refuse");
    expect(decideAcquire(states.failed, { ...facts, nowMs: 600_000 })).toBe("start");
  });
});
