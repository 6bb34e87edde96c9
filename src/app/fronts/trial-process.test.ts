import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Surroundings } from "../../operations/machine/surroundings/surroundings.ts";
import { tryApart } from "./trial-process.ts";

test("a process that cannot be started is a failure of the trial, and ends no gateway", async () => {
  const gone = join(tmpdir(), "toolyard-is-not-there");
  const place: Surroundings = {
    flags: {},
    env: {},
    cwd: gone,
    home: gone,
    homeDirectories: { config: gone, data: gone },
    version: "0",
    mainFile: "main.js",
    unlocked: {},
  };
  // What it says of itself besides, when it is written to, would be an error of the whole process.
  await expect(tryApart(place, { key: "a" }, AbortSignal.timeout(10_000))).rejects.toMatchObject({
    code: "INTERNAL",
    message: expect.stringContaining("could not be started") as string,
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
});
