import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stopDaemons } from "./installed-client.mjs";

test.runIf(process.platform === "linux")(
  "what a client left behind is ended, and nothing of another home",
  async () => {
    const [home, other] = await Promise.all(["a", "b"].map((name) => mkdtemp(join(tmpdir(), `toolyard-home-${name}`))));
    const start = (of) =>
      spawn(process.execPath, ["-e", "process.stdin.resume(); console.log('up')"], {
        env: { HOME: of },
        detached: true,
      });
    const [left, kept] = [start(home), start(other)];
    try {
      await Promise.all([left, kept].map((child) => once(child.stdout, "data")));
      const ended = once(left, "exit");
      await stopDaemons(home);
      expect(await ended).toEqual([null, "SIGKILL"]);
      expect(kept.exitCode).toBeNull();
      expect(kept.signalCode).toBeNull();
    } finally {
      kept.kill("SIGKILL");
      left.kill("SIGKILL");
      for (const folder of [home, other]) await rm(folder, { recursive: true, force: true });
    }
  },
);
