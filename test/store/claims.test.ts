import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleChild, type BundledChild } from "../harness/bundled-child.ts";

let claiming: BundledChild;
let folder: string;
const running = new Set<ChildProcess>();

beforeAll(async () => void (claiming = await bundleChild("test/store/children/claiming.ts")));
afterAll(async () => await claiming[Symbol.asyncDispose]());
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-claims-"))));
afterEach(async () => {
  for (const child of running) await kill(child);
  await rm(folder, { recursive: true, force: true });
});

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

function start(kind: string, onLine: (line: string, child: ChildProcess) => void): void {
  const child = claiming.start(kind, folder);
  running.add(child);
  if (child.stdout === null) throw new Error("no stdout");
  createInterface({ input: child.stdout }).on("line", (line) => onLine(line, child));
}

test.runIf(process.platform === "linux").each(["gateway", "file"])(
  "of processes that take over a stale %s lock from each other, never two hold it, even when some are killed",
  async (kind) => {
    const atOnce = 5;
    let held = 0;
    const said = new Set<string>();
    const lastHolders = new Set<ChildProcess>();
    await new Promise<void>((resolve) => {
      const onLine = (line: string, child: ChildProcess): void => {
        said.add(line);
        held += 1;
        if (held % 30 === 0 && held < 150) void kill(child).then(() => start(kind, onLine));
        // Nobody is kept out for ever by what those who were killed left behind.
        if (held >= 150) lastHolders.add(child);
        if (said.has("two") || [...running].every((process) => lastHolders.has(process))) resolve();
      };
      for (let count = 0; count < atOnce; count += 1) start(kind, onLine);
    });
    expect([...said]).toEqual(["held"]);
    for (const child of running) await kill(child);
    const left = await readdir(folder);
    // One file of each kind for each process that was killed, at most.
    expect(left.length).toBeLessThan(4 * 9);
  },
);
