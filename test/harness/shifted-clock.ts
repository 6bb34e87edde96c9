import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("shifted-clock.c", import.meta.url));

/** Whether there is a compiler for it, on a system where functions of the C library may be replaced. */
export const canShiftClocks = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;

/** The clocks of programs that are started with `env`, to be put forward and back while they run. */
export interface ShiftedClock extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** By how much they are off from now on: the time of day, and the clock that only goes forward. */
  shift(by: { readonly wallMs: number; readonly monotonicMs?: number }): void;
}

export async function createShiftedClock(): Promise<ShiftedClock> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-clock-"));
  const library = join(folder, "shifted-clock.so");
  const { status, stderr } = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source]);
  if (status !== 0) throw new Error(`cc: ${stderr.toString()}`);
  const path = join(folder, "shifts");
  const file = openSync(path, "w+", 0o600);
  const shift: ShiftedClock["shift"] = ({ wallMs, monotonicMs = 0 }) => {
    writeSync(file, new BigInt64Array([BigInt(wallMs), BigInt(monotonicMs)]), 0, 16, 0);
  };
  shift({ wallMs: 0 });
  return {
    env: { LD_PRELOAD: library, SHIFTED_CLOCK: path },
    shift,
    async [Symbol.asyncDispose]() {
      closeSync(file);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
