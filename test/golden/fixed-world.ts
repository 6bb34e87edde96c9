import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runOnTerminal } from "../harness/terminal.ts";

/** Commands that are run one after the other on a machine that is always the same. */
export interface FixedWorld extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** What a command prints and how it ends, with what differs from run to run replaced. */
  transcript(words: readonly string[], input?: string): Promise<string>;
}

export interface WorldOptions {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly settings?: object;
  readonly args?: readonly string[];
  /** Of the terminal that commands are run on. Without it there is none. */
  readonly columns?: number;
}

const everything = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

/** One server that needs nothing, and one that fails. */
export const fixedServers = {
  tools: { command: process.execPath, args: [everything, "stdio"] },
  broken: { command: "no-such-program-anywhere", args: [] },
};

/** A machine with one AI client, whose home has nothing else. */
export async function startFixedWorld(options: WorldOptions): Promise<FixedWorld> {
  const { servers, settings = {}, args = [], columns } = options;
  // Short, and of one length, so that columns have the same width everywhere.
  const home = mkdtempSync("/tmp/ty");
  chmodSync(home, 0o700);
  mkdirSync(join(home, ".cursor"));
  const entry = { command: process.execPath, args: ["-e", ""] };
  writeFileSync(join(home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: { notes: entry } }, undefined, 2));
  const env = { HOME: home, XDG_CONFIG_HOME: "", NO_COLOR: "1", COLUMNS: "120", SHELL: "/bin/sh", USER: "someone" };
  const gateway = await startGateway({
    ...{ directory: home, env, args },
    config: { mcpServers: servers, toolyard: settings },
  });
  const where = ["--config", gateway.configFile, "--data-dir", join(home, "data")];
  return {
    gateway,
    async transcript(words, input) {
      // Behind two hyphens everything is the command of a server.
      const end = words.includes("--") ? words.indexOf("--") : words.length;
      const given = words[0] === "help" ? words : [...words.slice(0, end), ...where, ...words.slice(end)];
      const run = columns === undefined ? runPiped(given, env, input) : runWide(given, env, columns);
      const { code, output } = await run;
      const command = `$ toolyard ${words.map((word) => (/[\s"{]/.test(word) ? `'${word}'` : word)).join(" ")}`;
      return `${command}\n${replaceVolatile(output, { home, url: gateway.url })}${code === 0 ? "" : `\n[exit ${code}]`}\n`;
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

async function runPiped(words: readonly string[], env: Readonly<Record<string, string>>, input?: string): Promise<Ran> {
  const { code, stdout, stderr } = await runCommand(words, env, input);
  // Said of what takes longer than a second, which is a matter of time.
  const said = stderr.replace(/^(?:waiting for|starting) .*\n/gm, "");
  return { code, output: [stdout.trimEnd(), said.trimEnd()].filter((text) => text !== "").join("\n--- stderr\n") };
}

/** On a terminal, on which no line may be longer than it is wide. */
async function runWide(words: readonly string[], env: Readonly<Record<string, string>>, columns: number): Promise<Ran> {
  const terminal = runOnTerminal({ args: words, env, columns });
  const code = await terminal.ended;
  const output = terminal.text().trimEnd();
  const long = output.split("\n").filter((line) => line.length > columns);
  if (long.length > 0) throw new Error(`longer than ${columns} columns:\n${long.join("\n")}`);
  return { code, output };
}

const shownHome = "/home/me";

/** Times, ids, secrets, ports, process numbers and what was measured, each with a word of its own. */
function replaceVolatile(text: string, { home, url }: { readonly home: string; readonly url: string }): string {
  const { host, port } = new URL(url);
  const steps: readonly (readonly [RegExp | string, string])[] = [
    [home, shownHome],
    [process.cwd(), "/toolyard"],
    [process.execPath, "/usr/bin/node"],
    [host, "127.0.0.1:7420"],
    [new RegExp(`\\b${port}\\b`, "g"), "7420"],
    [/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, "TIME"],
    [/\b\d{4}-\d\d-\d\d \d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?\b/g, "TIME"],
    [/\b\d{4}-\d\d-\d\d\b/g, "DAY"],
    [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "CLOCK"],
    [/\bty[a-z]*_[\w.-]{16,}/g, "TOKEN"],
    [/\b[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,}\b/g, "CODE"],
    [/\b[0-9a-f]{64}\b/g, "HASH"],
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UUID"],
    // One that begins with a hyphen has no edge of a word there.
    [/#[\w-]{20,}/g, "#ID"],
    [/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}\b/g, "ID"],
    [/\b(?:process|pid) \d+/g, "process PID"],
    [/\b1[78]\d{11}\b/g, "EPOCH"],
    [/\b\d{16}\b/g, "RECORD"],
    [/\b\d\d:\d\d UTC/g, "CLOCK UTC"],
    [/"latency":\[[^\]]*\]/g, '"latency":[]'],
    [/"durationMs":\{[^}]*\}/g, '"durationMs":{}'],
    // Whether they have been counted by then is a matter of time.
    [/"tokens":\d+,"tokens_exact":(?:true|false)/g, '"tokens":N,"tokens_exact":false'],
    [/("(?:pid|waitingRows|\w*Ms|\w*_ms|\w*MsSum|\w*MsMax|\w*[bB]ytes|revision|answer_tokens)\\?":)-?[\d.]+/g, "$10"],
    [/\b\d+(?:\.\d+)? (ms|MB|KB|GB)\b/g, "N $1"],
    [/\b\d+(?:\.\d+)? (?:s|min|h)\b/g, "N s"],
    [/\b\d+(?:\.\d+)?(ms|s|m|h)\b/g, "N$1"],
    [/(N MB +)\d+/g, "$1PID"],
    [/match, N m?s,/g, "match, N ms,"],
    // The time that the search took is part of the answer.
    [/~\d+ tokens for a model/g, "~N tokens for a model"],
    [/ {2,}/g, "  "],
    [/ +$/gm, ""],
  ];
  return steps.reduce((out, [from, to]) => out.replaceAll(from, to), text);
}
