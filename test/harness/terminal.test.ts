import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDrawnTerminal } from "./drawn-terminal.ts";
import { runOnTerminal } from "./terminal.ts";
import { until } from "./until.ts";

/** Waits for the end of a child without hearing of it, as on a busy machine. */
function blindly(pid: number | undefined): void {
  const isGone = `while [ -e /proc/${pid} ] && ! grep -q '^State:.Z' /proc/${pid}/status; do sleep 0.01; done`;
  execFileSync("sh", ["-c", isGone]);
}

test.runIf(process.platform === "linux")(
  "what is typed into a command that has just ended is lost, and no error",
  async () => {
    await using terminal = runOnTerminal({ args: ["--version"] });
    await until(() => terminal.text() !== "");
    blindly(terminal.pid);
    terminal.type("too late");
    // The pipe's end is told before the process's.
    expect(await terminal.interrupt()).toBe(0);

    const cwd = await mkdtemp(join(tmpdir(), "toolyard-typed-"));
    await using drawn = await openDrawnTerminal({ args: ["--version"], env: { HOME: cwd }, cwd });
    await until(() => drawn.raw() !== "");
    blindly(drawn.pid);
    drawn.type("too late");
    expect(await drawn.exited).toBe(0);
    await rm(cwd, { recursive: true, force: true });
  },
);
