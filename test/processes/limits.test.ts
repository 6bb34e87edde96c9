import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileDrivers } from "./compile-drivers.ts";
import { findSurvivors } from "./survivors.ts";

interface Report {
  readonly started: number;
  readonly code: string;
  readonly message: string;
  readonly recovered: boolean | string;
  readonly mark: string;
}

describe.runIf(process.platform === "linux")("a gateway that may have no more", () => {
  let built: ReturnType<typeof compileDrivers>;

  beforeAll(() => {
    built = compileDrivers();
  });

  afterAll(() => rmSync(built.folder, { recursive: true, force: true }));

  function exhaust(limit: string, user: { uid?: number; gid?: number } = {}): Report {
    const script = `ulimit ${limit} && exec "$0" "$1"`;
    const args = ["-c", script, process.execPath, built.driver("test/processes/exhaust-driver.js")];
    return JSON.parse(execFileSync("bash", args, { encoding: "utf8", ...user })) as Report;
  }

  test("FAULT 82: file descriptors fails one start with the reason, and recovers", () => {
    const report = exhaust("-n 64");
    expect(report).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("no file descriptors are left"),
      recovered: true,
    });
    expect(report.started).toBeGreaterThan(3);
    expect(findSurvivors(report.mark)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)("FAULT 82: processes fails one start with the reason, and recovers", () => {
    // A user without any other process, because the limit counts all of his.
    const report = exhaust("-u 40", { uid: 64_982, gid: 64_982 });
    expect(report).toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining("no more processes may be started"),
      recovered: true,
    });
    expect(findSurvivors(report.mark)).toEqual([]);
  });
});
