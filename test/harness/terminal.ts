import { spawn } from "node:child_process";
import { mainFile } from "./gateway.ts";
import { toTypedInput } from "./typed-input.ts";
import { until } from "./until.ts";

/** A command of ours on a terminal of its own: what a person sees, stdout and stderr together. */
export interface TerminalCommand extends AsyncDisposable {
  /** Of the program that makes the terminal. */
  readonly pid: number | undefined;
  /** All that was shown so far and was not cleared again, without its colours. */
  text(): string;
  /** Types this text. */
  type(text: string): void;
  /** Resolves to the exit code when the command ends by itself. */
  readonly ended: Promise<number | null>;
  /** Types Ctrl-C, and resolves to the exit code. */
  interrupt(): Promise<number | null>;
}

export interface TerminalOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly columns?: number;
}

/** Runs the built command line under util-linux's `script`, which makes the terminal. */
export function runOnTerminal({ args, env, cwd, columns = 120 }: TerminalOptions): TerminalCommand {
  const command = [`stty cols ${columns} rows 40; exec`, ...[process.execPath, mainFile, ...args].map(quote)].join(" ");
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const input = toTypedInput(child.stdin);
  let shown = "";
  child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  let gone = false;
  void exited.then(() => (gone = true));
  const interrupt = async (): Promise<number | null> => {
    if (!gone) input.write("\u0003");
    return await exited;
  };
  return {
    pid: child.pid,
    text: () => {
      const lines = shown.replaceAll("\r\n", "\n");
      // oxlint-disable-next-line no-control-regex -- colours, and what a terminal does with a line that is cleared
      return lines.replace(/\u001b\[\d*m/g, "").replace(/[^\n]*\r\u001b\[2?K/g, "");
    },
    type: (text) => void input.write(text),
    ended: exited,
    interrupt,
    [Symbol.asyncDispose]: async () => void (await interrupt()),
  };
}

/** The address that a gateway on a terminal says it listens on. */
export async function addressOn(terminal: TerminalCommand): Promise<string> {
  return await until(() => /^listening on (\S+)$/m.exec(terminal.text())?.[1]);
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
