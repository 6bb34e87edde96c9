import { expect, test } from "vitest";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { workerUrl } from "../../../kernel/runtime/worker-file.ts";
import { createCompiler } from "./compiler.ts";
import { defaultValidationLimits as limits } from "../schema-limits.ts";
import { createValidators } from "../validators.ts";
import { patientLimits } from "../../../../test/harness/patient-limits.ts";

/** Plain ones are checked without a worker. */
const needsCompiler = { type: "array", contains: { type: "string" } };
const never = new AbortController().signal;
const workerFile = workerUrl(import.meta.url, "compile-worker");

/** A worker that reports that it is ready, and then does with each text what the text says. */
const scripted = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from "node:worker_threads";
    parentPort.on("message", ({ id, text }) => {
      if (text === "exit") process.exit(3);
      if (text === "throw") throw new Error("it broke");
      if (text === "hang") for (;;);
      parentPort.postMessage({ kind: "compiled", id, compiled: { kind: "code", code: String(threadId) } });
    });
    parentPort.postMessage({ kind: "ready" });
  `)}`,
);

/** A clock whose timers run when the test says so. */
function manualClock(): Clock & { waiting(): number[]; run(delayMs: number): void } {
  const timers = new Set<{ delayMs: number; run: () => void }>();
  return {
    now: () => 0,
    monotonic: () => performance.now(),
    after(delayMs, run) {
      const timer = { delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    waiting: () => [...timers].map((timer) => timer.delayMs),
    run(delayMs) {
      for (const timer of timers) {
        if (timer.delayMs !== delayMs) continue;
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

async function threadOf(compiler: ReturnType<typeof createCompiler>): Promise<string> {
  const outcome = await compiler.compile("any");
  if (outcome.kind !== "code") throw new Error(outcome.reason);
  return outcome.code;
}

test.each(["exit", "throw"])(
  "a schema that ends the worker (%s) is unvalidated, and the next one gets a new worker",
  async (how) => {
    await using compiler = createCompiler({ clock: systemClock, limits, workerFile: scripted });
    const first = await threadOf(compiler);
    const [outcome, next] = await Promise.all([compiler.compile(how), threadOf(compiler)]);
    expect(outcome.kind).toBe("unvalidated");
    expect(next).not.toBe(first);
  },
);

test("FAULT 61: a schema that takes longer than 500 ms ends its worker and is unvalidated", async () => {
  const clock = manualClock();
  await using compiler = createCompiler({ clock, limits, workerFile: scripted });
  const first = await threadOf(compiler);
  const hanging = compiler.compile("hang");
  const waiting = threadOf(compiler);
  expect(clock.waiting()).toEqual([limits.compileTimeoutMs]);
  clock.run(limits.compileTimeoutMs);
  expect(await hanging).toMatchObject({ kind: "unvalidated" });
  expect(await waiting).not.toBe(first);
});

test("an idle worker is ended, and one is started when it is needed", async () => {
  const clock = manualClock();
  await using compiler = createCompiler({ clock, limits, workerFile: scripted });
  const first = await threadOf(compiler);
  expect(clock.waiting()).toEqual([limits.workerIdleMs]);
  clock.run(limits.workerIdleMs);
  expect(clock.waiting()).toEqual([]);
  expect(await threadOf(compiler)).not.toBe(first);
});

test("a worker that cannot start leaves schemas unavailable, not unvalidated", async () => {
  await using compiler = createCompiler({
    clock: systemClock,
    limits,
    workerFile: new URL("file:///nowhere/worker.js"),
  });
  expect(await compiler.compile("{}")).toMatchObject({ kind: "unavailable" });
  expect(await compiler.compile("{}")).toMatchObject({ kind: "unavailable" });
});

test("the queue has a limit", async () => {
  await using compiler = createCompiler({
    clock: systemClock,
    limits: { ...limits, queue: 1 },
    workerFile: scripted,
  });
  const first = compiler.compile("any");
  expect(await compiler.compile("any")).toMatchObject({ kind: "unavailable" });
  expect(await first).toMatchObject({ kind: "code" });
});

test("disposal ends the worker and what waits for it", async () => {
  const compiler = createCompiler({ clock: systemClock, limits, workerFile: scripted });
  const waiting = compiler.compile("hang");
  // oxlint-disable-next-line vitest/valid-expect -- awaited below, after what makes it reject
  const refused = expect(waiting).rejects.toMatchObject({ code: "DRAINING" });
  await compiler[Symbol.asyncDispose]();
  await refused;
  await expect(compiler.compile("any")).rejects.toMatchObject({ code: "DRAINING" });
});

test("a schema that needs more memory than the worker has is unvalidated", async () => {
  const small = { ...limits, ...patientLimits, workerHeapMb: 24 };
  await using compiler = createCompiler({ clock: systemClock, limits: small, workerFile });
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: "string" }]),
  );
  expect(await compiler.compile(JSON.stringify({ properties }))).toMatchObject({
    kind: "unvalidated",
  });
  expect(await compiler.compile("{}")).toMatchObject({ kind: "code" });
}, 60_000);

test("callers of one schema share one compilation", async () => {
  await using validators = createValidators({ clock: systemClock, workerFile, limits: patientLimits });
  const schema = needsCompiler;
  const verdicts = await Promise.all([1, 2, 3].map(() => validators.prepare("same", schema, never)));
  expect(new Set(verdicts).size).toBe(1);
  expect(validators.size).toBe(1);
});

test("a caller that gives up is let go; the others get their validator", async () => {
  await using validators = createValidators({ clock: systemClock, workerFile, limits: patientLimits });
  const impatient = new AbortController();
  const given = validators.prepare("same", needsCompiler, impatient.signal);
  const kept = validators.prepare("same", needsCompiler, never);
  impatient.abort(new Error("gone"));
  await expect(given).rejects.toThrow("gone");
  expect(await kept).not.toBe("unvalidated");
  await expect(validators.prepare("other", {}, impatient.signal)).rejects.toThrow("gone");
});

test("what could not be compiled for want of a worker is tried again", async () => {
  await using validators = createValidators({
    clock: systemClock,
    workerFile: new URL("file:///nowhere/worker.js"),
  });
  expect(await validators.prepare("a", needsCompiler, never)).toBe("unvalidated");
  expect(validators.lookup("a")).toBeUndefined();
  expect(await validators.prepare("plain", { type: "string" }, never)).not.toBe("unvalidated");
});
