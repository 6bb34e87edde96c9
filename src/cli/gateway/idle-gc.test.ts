import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "toolyard-rest-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Works for a second, leaves 24 MB of garbage, and rests: for ten looks after the first that found less. */
const program = `
  import { constants, PerformanceObserver } from "node:perf_hooks";
  import { collectAtRest } from "./resting-heap.mjs";
  const lookMs = 200;
  collectAtRest({ lookMs });
  let whole = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) whole += 1;
  });
  const lists = (mb) => Array.from({ length: mb }, () => Array.from({ length: 131_072 }, (_, index) => index / 2));
  const kept = lists(4);
  let garbage = lists(24);
  for (const untilMs = Date.now() + 1_000; Date.now() < untilMs; );
  garbage = undefined;
  const before = process.memoryUsage().heapUsed;
  observer.observe({ entryTypes: ["gc"] });
  let looks = 0;
  let looksAfter = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (whole > 0) looksAfter += 1;
    if (looksAfter < 10 && looks < 600) return;
    const freedMb = (before - process.memoryUsage().heapUsed) / 1_048_576;
    console.log(JSON.stringify({ whole, freedMb, kept: kept.length }));
    clearInterval(timer);
  }, lookMs);
`;

beforeAll(() => {
  buildSync({
    entryPoints: [fileURLToPath(new URL("./garbage-collector.ts", import.meta.url))],
    outfile: join(directory, "resting-heap.mjs"),
    platform: "node",
    format: "esm",
  });
  writeFileSync(join(directory, "program.mjs"), program);
});

test("a process that has worked and rests gives its garbage back, once", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, "program.mjs")]);
  const { whole, freedMb } = JSON.parse(stdout) as { readonly whole: number; readonly freedMb: number };
  expect(freedMb).toBeGreaterThan(16);
  expect(whole).toBe(1);
});
