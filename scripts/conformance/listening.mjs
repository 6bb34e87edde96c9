// Starts a child that prints `listening on URL`, and ends it again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

// Starting is quick; this only keeps a broken server from holding the run for ever.
const startTimeoutMs = 30_000;
// Longer than the gateway's own stop deadline, so that it can end its children itself.
const stopTimeoutMs = 15_000;

/**
 * @param {string[]} args of this Node binary
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startListening(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const stderr = keepTail(child.stderr);
  const stop = () => stopChild(child);
  try {
    return { url: await readUrl(child), stop };
  } catch (error) {
    await stop();
    throw new Error(`${args.join(" ")} did not start: ${error.message}\n${stderr()}`, {
      cause: error,
    });
  }
}

async function readUrl(child) {
  const lines = createInterface({ input: child.stdout });
  const signal = AbortSignal.timeout(startTimeoutMs);
  return new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      const [, url] = /^listening on (http\S+)/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("error", reject);
    child.once("exit", (code, signalName) => reject(new Error(`it ended with ${signalName ?? code}`)));
    signal.addEventListener("abort", () => reject(new Error("it did not say that it listens")));
  });
}

async function stopChild(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}

function keepTail(stream, limit = 4_000) {
  let tail = "";
  stream.setEncoding("utf8").on("data", (chunk) => (tail = (tail + chunk).slice(-limit)));
  return () => tail;
}
