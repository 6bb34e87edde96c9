// How a person answers in each client: on its terminal, where it can ask, otherwise in the gateway's inbox. Each lets
// all our tools be called without a question of its own, so that the gateway's question is the only one.

import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * @typedef {object} OnTerminal
 * @property {string[]} args
 * @property {(home: string) => Promise<void>} [settle] makes its home one in which it has been used before
 * @property {{ says: string, keys: string[] }} [first] a question of its own at the start
 * @property {RegExp} ready what it shows when it takes a prompt
 * @property {{ yes: string[], no: string[] }} keys from the moment when the question is there
 *
 * @typedef {object} AskedRow
 * @property {OnTerminal} [terminal] undefined: it cannot be asked
 * @property {string[]} [headless] what lets it do everything without a person, where that is more than `allow` of the
 *   client
 * @property {string[]} [lookup] its arguments for a lookup where everything else is refused or asked about: undefined
 *   where it gets no tool of its own for that
 */

const prompt = "Find a tool and call it.";

/** @type {Record<string, AskedRow>} by the client's name */
export const askedRows = {
  "Claude Code": {
    terminal: {
      // In its default mode, a server of its maker judges each call first, which a machine of the test has not.
      args: ["--permission-mode", "default", "--allowedTools", "mcp__toolyard"],
      async settle(home) {
        const file = join(home, ".claude.json");
        const settings = JSON.parse(await readFile(file, "utf8"));
        const used = {
          hasCompletedOnboarding: true,
          customApiKeyResponses: { approved: ["none"], rejected: [] },
          projects: { [home]: { hasTrustDialogAccepted: true } },
        };
        await writeFile(file, JSON.stringify({ ...settings, ...used }));
      },
      ready: /manual mode on/,
      // The choice is opened and the second taken; then the form is accepted.
      keys: { yes: ["Right", "Down", "Enter", "Enter"], no: ["Down", "Enter"] },
    },
    lookup: ["-p", prompt, "--permission-mode", "plan", "--allowedTools", "mcp__toolyard"],
  },
  Codex: {
    terminal: {
      args: ["-c", 'mcp_servers.toolyard.default_tools_approval_mode="approve"'],
      async settle(home) {
        await appendFile(join(home, "config.toml"), `\n[projects."${home}"]\ntrust_level = "trusted"\n`);
      },
      ready: /Ask Codex/,
      keys: { yes: ["Down", "Enter"], no: ["Enter"] },
    },
    // With full access it answers forms by itself: one that is empty with yes, one with a choice with no.
    headless: ["--dangerously-bypass-approvals-and-sandbox"],
    lookup: ["exec", "--skip-git-repo-check", prompt],
  },
  "Copilot CLI": {
    terminal: {
      args: ["--no-auto-update", "--disable-builtin-mcps", "--log-level", "none", "--allow-tool", "toolyard"],
      first: { says: "Do you trust the files in this folder?", keys: ["Enter"] },
      ready: /1 server connected/,
      keys: { yes: ["Down", "Enter"], no: ["Enter"] },
    },
    lookup: ["-p", prompt, "--no-color", "--no-auto-update", "--disable-builtin-mcps", "--log-level", "none"],
  },
  "Gemini CLI": {},
  opencode: {},
  "Qwen Code": {},
};
