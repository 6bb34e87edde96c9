import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "toolyard-heap-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/**
 * Every turn makes objects, and some of them outlive the next collections. Turns are `argv[4]` ms apart; in the turn
 * `argv[5]` a thread is started.
 */
const program = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { Worker } from "node:worker_threads";
  import { tuneGarbageCollector } from "./tuned.mjs";
  if (process.argv[2] === "tuned") tuneGarbageCollector();
  const [turns, pauseMs, threadAt] = process.argv.slice(3).map(Number);
  const kept = [];
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn === threadAt) new Worker("setInterval(() => 0, 1000)", { eval: true }).unref();
    for (let index = 0; index < 4_000; index += 1) {
      kept[(turn * 4_000 + index) % 12_000] = { turn, index, text: String(turn * index), list: [turn, index] };
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space").space_size);
`;

/** Whether what the tuning keeps is still there after some collections of the whole heap. */
const tickProgram = `
  import hooks from "node:async_hooks";
  import { syncBuiltinESMExports } from "node:module";
  const { executionAsyncResource } = hooks;
  let tick;
  hooks.executionAsyncResource = () => {
    const resource = executionAsyncResource();
    tick = new WeakRef(resource);
    return resource;
  };
  syncBuiltinESMExports();
  const { tuneGarbageCollector } = await import("./tuned.mjs");
  tuneGarbageCollector();
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
  }
  console.log(tick.deref() !== undefined);
`;

interface Life {
  readonly turns: number;
  readonly pauseMs: number;
  readonly threadAt?: number;
}
/** As a gateway with many clients that call now and then: some collections a second. */
const quiet: Life = { turns: 120, pauseMs: 40 };
/** As a gateway that is called as often as it can answer. */
const busy: Life = { turns: 900, pauseMs: 0 };

async function youngHeapAfter({ turns, pauseMs, threadAt = -1 }: Life, how: "tuned" | "as it is"): Promise<number> {
  const args = [join(directory, "program.mjs"), how, ...[turns, pauseMs, threadAt].map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

beforeAll(() => {
  buildSync({
    entryPoints: [fileURLToPath(new URL("./garbage-collector.ts", import.meta.url))],
    outfile: join(directory, "tuned.mjs"),
    platform: "node",
    format: "esm",
    // As `npm run build` has it, which leaves out what nothing uses.
    minifySyntax: true,
  });
  writeFileSync(join(directory, "program.mjs"), program);
  writeFileSync(join(directory, "tick.mjs"), tickProgram);
});

test("the young heap stays small however long there are some calls a second", async () => {
  const [tuned, asItIs] = await Promise.all([youngHeapAfter(quiet, "tuned"), youngHeapAfter(quiet, "as it is")]);
  // It may double twice more before it is looked at.
  expect(tuned).toBeLessThanOrEqual(16 * 1_048_576);
  expect(asItIs).toBeGreaterThan(tuned);
});

test("a thread that is started lets the young heap grow no further", async () => {
  expect(await youngHeapAfter({ ...quiet, threadAt: 40 }, "tuned")).toBeLessThanOrEqual(16 * 1_048_576);
});

test("a burst of calls has the whole young heap that V8 allows", async () => {
  expect(await youngHeapAfter(busy, "tuned")).toBe(await youngHeapAfter(busy, "as it is"));
});

test("the object that keeps ticks fast outlives collections", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", join(directory, "tick.mjs")]);
  expect(stdout.trim()).toBe("true");
});
