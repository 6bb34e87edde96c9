import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { untilPasses } from "../../../test/harness/until-passes.ts";
import { openLogOutput } from "./log-output.ts";
import { createTerminalScreen } from "../terminal/terminal-screen.ts";

const screen = createTerminalScreen(
  () => undefined,
  () => ({ columns: 80, rows: 24 }),
);

test.each([
  ["on a terminal", { format: undefined, screen }],
  ["of a gateway in the background", { format: "file", screen: undefined }],
] as const)("the log's file %s is rotated: three older ones at most, for the owner only", async (_whose, options) => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-log-"));
  try {
    const output = await openLogOutput({ ...options, folder });
    const logs = join(folder, "logs");
    const line = `${JSON.stringify({ level: "info", msg: "x".repeat(1_000_000) })}\n`;
    // Enough lines for five files, each waited for, because lines written at once may all end up in one file.
    for (let file = 1; file <= 5; file += 1) {
      const before = await newestOld(logs);
      for (let written = 0; written < 6; written += 1) output.write(line);
      await until(async () => (await newestOld(logs)) !== before);
    }
    const found = async (): Promise<string[]> =>
      (await readdir(logs)).filter((name) => name.startsWith("gateway")).sort();
    // Files are renamed one after the other, and the oldest goes last.
    const files = ["gateway.1.log", "gateway.2.log", "gateway.3.log", "gateway.log"];
    await untilPasses(async () => expect(await found()).toEqual(files));
    for (const name of files) expect((await stat(join(logs, name))).mode & 0o077, name).toBe(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** The file that was rotated last. */
async function newestOld(logs: string): Promise<bigint | undefined> {
  return await stat(join(logs, "gateway.1.log"), { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
