import { spawn } from "node:child_process";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandOutcome, Management } from "../../operations/request/management.ts";

export interface OwnCommandsDeps {
  /** The program and what precedes the words of every command: Node and the file of our command. */
  readonly program: readonly [command: string, ...args: string[]];
  /** Options that have a command mean this gateway: its configuration and its data directory. */
  readonly options: () => readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Trying a server may install a package first. */
const longestMs = 180_000;
/** Of what a command prints: lists of servers and changes of files. Output beyond it is not read. */
const mostBytes = 4 * 1024 * 1024;
/** A person clicks one thing after the other. */
const mostAtOnce = 4;

/**
 * Runs our own commands in processes of their own. Changing files of AI clients, importing and trying servers thereby
 * have one way only, with the checks and backups that it has, and their memory is freed afterwards.
 */
export function createOwnCommands({ program, options, environment, cwd }: OwnCommandsDeps): Management["run"] {
  let running = 0;

  return async (words, signal, input) => {
    if (running >= mostAtOnce) throw new GatewayError("RATE_LIMITED", `${running} commands run already`);
    running += 1;
    try {
      const [command, ...before] = program;
      const at = words.indexOf("--");
      const split = at === -1 ? words.length : at;
      const args = [...before, ...words.slice(0, split), ...options(), ...words.slice(split)];
      return await run(command, args, { environment, cwd, input, signal: abortAfter(longestMs, signal) });
    } finally {
      running -= 1;
    }
  };
}

interface Surroundings {
  readonly environment: OwnCommandsDeps["environment"];
  readonly cwd: string;
  /** What it reads: secrets are no words, which everybody on the machine can see. */
  readonly input: string | undefined;
  readonly signal: AbortSignal;
}

async function run(
  command: string,
  args: readonly string[],
  { environment, cwd, input, signal }: Surroundings,
): Promise<CommandOutcome> {
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, NO_COLOR: "1" },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    windowsHide: true,
    signal,
    killSignal: "SIGTERM",
  });
  // It may end without having read it.
  child.stdin?.on("error", () => undefined).end(input);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8");
    child[name]?.on("data", (text: string) => {
      if (output[name].length < mostBytes) output[name] += text;
    });
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", (error) =>
      reject(
        new GatewayError("INTERNAL", `the command ${args[1] ?? ""} could not be run: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    child.once("close", (exitCode) => resolve(exitCode ?? 1));
  });
  return { code, ...output };
}
