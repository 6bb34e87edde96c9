import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { afterAll, expect, test } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "toolyard-heap-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Lives as a busy gateway does: every turn makes objects, and some of them outlive the next collections. */
const program = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { tuneGarbageCollector } from "./tuned.mjs";
  if (process.argv[2] === "tuned") tuneGarbageCollector();
  const kept = [];
  for (let turn = 0; turn < 300; turn += 1) {
    for (let index = 0; index < 4_000; index += 1) {
      kept[(turn * 4_000 + index) % 12_000] = { turn, index, text: String(turn * index), list: [turn, index] };
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space").space_size);
`;

async function youngHeapAfterWork(how: "tuned" | "as it is"): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, "program.mjs"), how]);
  return Number(stdout);
}

test("the young heap stays small however long a gateway is busy", async () => {
  buildSync({
    entryPoints: [fileURLToPath(new URL("./garbage-collector.ts", import.meta.url))],
    outfile: join(directory, "tuned.mjs"),
    platform: "node",
    format: "esm",
  });
  writeFileSync(join(directory, "program.mjs"), program);
  const [tuned, asItIs] = await Promise.all([youngHeapAfterWork("tuned"), youngHeapAfterWork("as it is")]);
  // It may double once more before it is looked at.
  expect(tuned).toBeLessThanOrEqual(16 * 1_048_576);
  expect(asItIs).toBeGreaterThan(tuned);
});
