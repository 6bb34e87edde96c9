// A terminal on which a person could type: a program in tmux, whose screen is read as text and whose keys are sent.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { findNewerNode } from "../../node24.mjs";

const run = promisify(execFile);
/** Large enough that no question is cut. */
const size = ["-x", "110", "-y", "50"];
const pauseMs = 250;

/**
 * @typedef {(screen: string) => boolean | Promise<boolean>} IsThere
 *
 * @typedef {object} Terminal
 * @property {() => Promise<string>} screen as it is now
 * @property {() => Promise<string>} untilEnd of the program: all that it has printed
 * @property {(...keys: string[]) => Promise<void>} press keys by tmux's names: `Enter`, `Down`, or a text
 * @property {(isThere: IsThere, what: string, limitMs?: number) => Promise<string>} until the screen that is waited for
 * @property {() => Promise<void>} close
 */

/**
 * @param {string[]} words the program and its arguments
 * @param {{ env: Record<string, string>, cwd: string }} options
 * @returns {Promise<Terminal>}
 */
export async function openTerminal(words, { env, cwd }) {
  const path = `${dirname(await findNewerNode())}:${process.env.PATH}`;
  const folder = await mkdtemp(join(tmpdir(), "toolyard-tmux-"));
  const [socket, settings] = [join(folder, "socket"), join(folder, "settings")];
  await writeFile(settings, "set -g remain-on-exit on\n");
  // A server of its own: the program gets its environment and no other's.
  const tmux = async (...args) => {
    const options = { cwd, env: { ...env, PATH: path, LANG: "C.UTF-8" } };
    return (await run("tmux", ["-S", socket, "-f", settings, ...args], options)).stdout;
  };
  await tmux("new-session", "-d", ...size, ...words);
  const screen = async () => (await tmux("capture-pane", "-p")).trimEnd();
  const hasEnded = async () => (await tmux("display-message", "-p", "#{pane_dead}")).trim() === "1";
  return {
    screen,
    async untilEnd() {
      await this.until(hasEnded, "the end of the program");
      // tmux says so below what was printed, and what was at the top has left the screen.
      const printed = await tmux("capture-pane", "-p", "-S", "-");
      return printed.replace(/\s*Pane is dead[^]*/, "").trimEnd();
    },
    async press(...keys) {
      for (const key of keys) await tmux("send-keys", key);
    },
    async until(isThere, what, limitMs = 180_000) {
      for (const endMs = performance.now() + limitMs; performance.now() < endMs; await delay(pauseMs)) {
        const seen = await screen();
        if (await isThere(seen)) return seen;
      }
      throw new Error(`${what} did not come; the screen shows:\n${await screen()}`);
    },
    async close() {
      await tmux("kill-server").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
