import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Config } from "../../config/config.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { notificationText, requestText } from "../../wire/mcp/envelope.ts";
import type { CommandContext } from "../command/command-context.ts";
import { doubtful, fine, type Finding } from "../../operations/machine/doctor/doctor-finding.ts";

/** Some clients go on without a server that takes longer at their start. */
const fastMs = 1_000;
const mostMs = 60_000;

/** How long a client waits for `toolyard stdio`. */
export interface StartSeen {
  /** From the start of the command to its first list of tools; undefined where there was none. */
  readonly startMs: number | undefined;
  readonly finding: Finding;
}

/**
 * Starts `toolyard stdio` once, as a client does where no gateway runs: with a data directory of its own, which is
 * removed afterwards, as is the gateway that it started. No server is started: these wait for the list. Rejects with
 * the signal's reason.
 */
export async function measureStart(context: CommandContext, config: Config, signal: AbortSignal): Promise<StartSeen> {
  const dataDir = await mkdtemp(join(tmpdir(), "toolyard-doctor-"));
  const where = ["--data-dir", dataDir, ...(config.file === undefined ? [] : ["--config", config.file])];
  try {
    const startMs = await untilListed(context, where, AbortSignal.any([signal, AbortSignal.timeout(mostMs)]));
    signal.throwIfAborted();
    return { startMs, finding: judge(startMs) };
  } finally {
    await ended(context, ["stop", ...where]);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function judge(startMs: number | undefined): Finding {
  if (startMs === undefined)
    return doubtful("toolyard stdio: it gave no list of tools", "Run it yourself: it reports the problem on stderr.");
  const what = `toolyard stdio: its first list of tools came after ${startMs} ms, the start of a gateway included`;
  if (startMs <= fastMs) return fine(what);
  return doubtful(
    `${what}; some clients leave a server out that takes longer than ${fastMs} ms`,
    "Keep a gateway running (`toolyard service install`), or let the client wait: Codex does with `required = true`.",
  );
}

async function untilListed(
  context: CommandContext,
  where: readonly string[],
  signal: AbortSignal,
): Promise<number | undefined> {
  const startedMs = performance.now();
  const child = start(context, ["stdio", ...where]);
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop);
  const ask = (line: string): void => void child.stdin.write(`${line}\n`);
  child.stdin.on("error", () => undefined);
  child.on("error", () => undefined);
  ask(
    requestText(
      1,
      "initialize",
      `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"toolyard-doctor","version":"1"}}`,
    ),
  );
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const id = idOf(line);
      if (id === 2) return Math.round(performance.now() - startedMs);
      if (id !== 1) continue;
      ask(notificationText("notifications/initialized"));
      ask(requestText(2, "tools/list", "{}"));
    }
    return undefined;
  } finally {
    signal.removeEventListener("abort", stop);
    child.stdin.end();
  }
}

/** Stops what was started, as a person would. What does not run any more is none. */
async function ended(context: CommandContext, args: readonly string[]): Promise<void> {
  const child = start(context, args);
  child.stdin.on("error", () => undefined).end();
  child.stdout.resume();
  await new Promise<void>((resolve) => {
    child.on("error", () => resolve());
    child.on("close", () => resolve());
  });
}

function start({ env, cwd }: CommandContext, args: readonly string[]) {
  return spawn(process.execPath, [process.argv[1] ?? "", ...args], { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
}

function idOf(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line);
    return isJsonObject(message) ? message["id"] : undefined;
  } catch {
    return undefined;
  }
}
