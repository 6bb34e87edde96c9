import { readdirSync } from "node:fs";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  applyEdit,
  applyUndo,
  openClientFile,
  planEdit,
  planUndo,
} from "../../src/config/clients/connect/client-edit.ts";
import { readKeptChanges } from "../../src/config/clients/connect/kept-changes.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { bundleChild } from "../harness/bundled-child.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-killed-edit-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

test("a program that is killed while it changes a client's file leaves a whole one, and what it was before", async () => {
  await using child = await bundleChild("test/clients/children/connecting.ts");
  const path = join(folder, "settings", "mcp.json");
  const dataDir = join(folder, "data");
  await mkdir(join(folder, "settings"));
  // Large enough that writing it takes a while.
  const history = Array.from({ length: 10_000 }, (_, at) => `line ${at} of what somebody typed`);
  const original = `${JSON.stringify({ history, mcpServers: { files: { command: "npx" } } }, null, 2)}\n`;
  await writeFile(path, original);
  const settings = async (): Promise<readonly string[]> => await readdir(join(folder, "settings"));
  const leftBefore = async (): Promise<number> => (await settings()).length - 1;
  /** Looks without a pause: the half-written file is there for a few milliseconds only. */
  const sawMore = async (left: number): Promise<void> => {
    while (readdirSync(join(folder, "settings")).length - 1 <= left) await new Promise((next) => setImmediate(next));
  };
  const seen = new Set<string>();
  for (let life = 0; life < 8; life += 1) {
    const running = child.start(path, dataDir);
    const exit = once(running, "exit");
    if (running.stdout === null) throw new Error("no stdout");
    const left = await leftBefore();
    for await (const round of createInterface({ input: running.stdout })) {
      if (Number(round) !== 1 + (life % 2)) continue;
      // In half of the lives while the new file is written, otherwise at another moment each time.
      if (life % 2 === 0) setTimeout(() => running.kill("SIGKILL"), life * 3);
      else void sawMore(left).then(() => running.kill("SIGKILL"));
    }
    expect(await exit).toEqual([null, "SIGKILL"]);
    const text = await readFile(path, "utf8");
    const { mcpServers, ...rest } = JSON.parse(text) as { history: string[]; mcpServers: Record<string, unknown> };
    expect(rest).toEqual({ history });
    expect(mcpServers["files"]).toEqual({ command: "npx" });
    seen.add(text);
  }
  expect(seen.size).toBeGreaterThan(1);
  // Some of them were killed half-way, and what they left is gone after the next change.
  expect(await leftBefore()).toBeGreaterThan(0);
  const [newest] = await readKeptChanges(dataDir, path);
  const was = await newest?.before();
  const undo = await planUndo(path, { dataDir });
  expect(["done", "restore"]).toContain(undo.kind);
  for (const name of await settings()) await utimes(join(folder, "settings", name), 0, 0);
  await applyUndo(undo);
  expect(await readFile(path)).toEqual(was);
  await applyEdit(await planEdit(await openClientFile(path, "json"), [{ path: ["last"], value: 1 }]), {
    dataDir,
    clock: systemClock,
  });
  expect(await settings()).toEqual(["mcp.json"]);
});
