import { afterEach, beforeEach, expect, test } from "vitest";
import { findSurvivors } from "../../../../test/processes/survivors.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { createGuardian, type Guardian } from "./guardian.ts";
import { spawnTree } from "../spawn-tree.ts";
import { createWatchdog, type TreeLimits } from "./watchdog.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const roomy: TreeLimits = { processes: 20, residentBytes: 256 * 1024 ** 2 };

let guardian: Guardian;

beforeEach(() => {
  guardian = createGuardian({ environment: process.env, recordDirectory: undefined, log: silent });
});

afterEach(async () => {
  await guardian[Symbol.asyncDispose]();
  expect(findSurvivors(guardian.gateway)).toEqual([]);
});

function start(command: string, args: readonly string[]) {
  return spawnTree({ command, args, env: { PATH: process.env["PATH"] ?? "" }, cwd: "/" }, guardian);
}

test.runIf(process.platform === "linux")(
  "FAULT 81: a fork bomb ends at the process limit, with the reason, and its neighbour lives",
  async () => {
    using watchdog = createWatchdog({ clock: systemClock, intervalMs: 50 });
    const reasons: string[] = [];
    const neighbour = await start("cat", []);
    const bomb = await start("/bin/sh", [
      "-c",
      "f() { n=$1; [ $n -gt 6 ] && sleep 1000; f $((n + 1)) & f $((n + 1)) & wait; }; f 0",
    ]);
    watchdog.watch(neighbour, roomy, () => reasons.push("neighbour"));
    watchdog.watch(bomb, roomy, (reason) => reasons.push(reason));
    await bomb.gone;
    expect(reasons).toEqual([expect.stringMatching(/^it has \d+ processes; the limit is 20$/)]);
    expect(await neighbour.usage()).toMatchObject({ processes: 1 });
  },
);

test.runIf(process.platform === "linux")(
  "FAULT 81: a memory hog ends at the memory limit, wherever in the tree it is",
  async () => {
    using watchdog = createWatchdog({ clock: systemClock, intervalMs: 50 });
    const reasons: string[] = [];
    const hog = `const kept = []; setInterval(() => kept.push(Buffer.alloc(32 * 1024 ** 2, 1)), 10)`;
    const tree = await start("/bin/sh", ["-c", `setsid '${process.execPath}' -e '${hog}' & wait`]);
    watchdog.watch(tree, roomy, (reason) => reasons.push(reason));
    await tree.gone;
    expect(reasons).toEqual([expect.stringMatching(/^it uses \d+ MiB of memory; the limit is 256 MiB$/)]);
  },
);
