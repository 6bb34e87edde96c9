import { describe, expect, test } from "vitest";
import { createManualClock } from "../../../../test/harness/manual-clock.ts";
import type { ServerConfig } from "../../../config/config.ts";
import { buildConfig } from "../../../config/load.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { startLimits, withStartDeadline } from "./opening.ts";

const settings = { runnerQuietMs: 120_000, runnerStartMs: 900_000 };
const runner = { command: "npx", args: ["-y", "some-server"] };

describe("a start that takes too long", () => {
  test.each([
    ["of a command", { command: "x" }, true, 30_000, "startTimeoutMs, now 30 s, for this server."],
    [
      "with a deadline of its own",
      { ...runner, startTimeoutMs: 60_000 },
      false,
      60_000,
      "startTimeoutMs, now 1 min, for this server.",
    ],
    ["by npx, without a sign of work", runner, false, 120_000, "instances.runnerQuietMs, now 2 min."],
    ["by npx, of what was installed before", runner, true, 30_000, "startTimeoutMs, now 30 s, for this server."],
  ])("%s, names the setting that decided, with its value", async (_what, entry, everOnline, ms, words) => {
    const { clock, starting } = begin(entry, everOnline);
    await clock.advance(ms - 1);
    expect(await Promise.race([starting.then(() => "over"), Promise.resolve("running")])).toBe("running");
    await clock.advance(1);
    expect((await starting).hint).toBe(`Look at its last output, or raise ${words}`);
  });

  test("by npx, always at work, names the limit of the whole start", async () => {
    const { clock, starting, work } = begin(runner, false);
    for (let passed = 0; passed < 900_000; passed += 60_000) {
      work();
      await clock.advance(60_000);
    }
    const failure = await starting;
    expect(failure.message).toBe("some did not come up within 900 s");
    expect(failure.hint).toBe("Look at its last output, or raise instances.runnerStartMs, now 15 min.");
  });
});

/** A start that never ends by itself. `starting` resolves to what ended it. */
function begin(entry: object, everOnline: boolean) {
  const clock = createManualClock();
  const limits = startLimits(serverOf(entry), everOnline, settings);
  let work = (): void => undefined;
  const starting = withStartDeadline(
    { server: "some", limits, clock, stderr: () => [] },
    new AbortController().signal,
    async (signal, noteWork) => {
      work = noteWork;
      return await new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    },
  ).catch((error: unknown) => {
    if (error instanceof GatewayError) return error;
    throw error;
  });
  return { clock, starting, work: () => work() };
}

function serverOf(entry: object): ServerConfig {
  const [server] = buildConfig(
    { file: "/conf/toolyard.json", text: JSON.stringify({ mcpServers: { some: entry } }) },
    { cwd: "/conf", env: {}, flags: {}, homeDirectories: { config: "/c", data: "/d" }, cores: 2 },
  ).servers;
  if (server === undefined) throw new Error("the entry is no server");
  return server;
}
