import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import xterm from "@xterm/headless";
import { mainFile } from "./gateway.ts";
import { toTypedInput } from "./typed-input.ts";
import { until } from "./until.ts";

/** A command of ours on a terminal that is drawn as a terminal draws it: with cursor, colours and wrapped lines. */
export interface DrawnTerminal extends AsyncDisposable {
  /** Of the program that makes the terminal. */
  readonly pid: number | undefined;
  /** The lines of the screen as a person sees them now, without empty ones at the end. */
  screen(): readonly string[];
  /** All lines since the start that are still there, with those that have scrolled out. */
  all(): string;
  /** Every byte that was written. */
  raw(): string;
  type(text: string): void;
  /** Waits until the text is on the terminal. */
  sees(text: string | RegExp): Promise<void>;
  /** As dragging the window's corner does: the program is told by SIGWINCH. */
  resize(columns: number, rows: number): void;
  readonly exited: Promise<number | null>;
}

export interface DrawnTerminalOptions {
  readonly args: readonly string[];
  /** The whole environment, besides what the terminal adds. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
}

export const keys = { enter: "\r", down: "\u001b[B", up: "\u001b[A", space: " ", ctrlC: "\u0003" } as const;

/** Runs the built command line under util-linux's `script`, which makes the terminal, and draws what it writes. */
export async function openDrawnTerminal(options: DrawnTerminalOptions): Promise<DrawnTerminal> {
  const { args, env, cwd, columns = 120, rows = 40 } = options;
  const folder = await mkdtemp(join(tmpdir(), "toolyard-tty-"));
  const deviceFile = join(folder, "device");
  const words = [process.execPath, mainFile, ...args].map(quote).join(" ");
  const command = `tty > ${quote(deviceFile)}; stty cols ${columns} rows ${rows}; exec ${words}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd,
    env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
  });
  const input = toTypedInput(child.stdin);
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5_000 });
  let raw = "";
  child.stdout.on("data", (chunk: Buffer) => {
    raw += chunk.toString();
    terminal.write(chunk);
  });
  let gone = false;
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  void exited.then(() => (gone = true));

  const lines = (from: number): string[] => {
    const { active } = terminal.buffer;
    const all = Array.from({ length: active.length - from }, (_, at) =>
      (active.getLine(from + at)?.translateToString(true) ?? "").trimEnd(),
    );
    while (all.at(-1) === "") all.pop();
    return all;
  };
  const all = (): string => lines(0).join("\n");
  return {
    pid: child.pid,
    screen: () => lines(terminal.buffer.active.baseY),
    all,
    raw: () => raw,
    type: (text) => void input.write(text),
    async sees(text) {
      await until(() => {
        const isThere = typeof text === "string" ? all().includes(text) : text.test(all());
        if (!isThere && gone) throw new Error(`the command ended and never showed ${String(text)}:\n${all()}`);
        return isThere;
      }).catch((error: unknown) => {
        throw new Error(`${String(text)} was never shown:\n${all()}`, { cause: error });
      });
    },
    resize(toColumns, toRows) {
      terminal.resize(toColumns, toRows);
      const device = readFileSync(deviceFile, "utf8").trim();
      execFileSync("stty", ["-F", device, "cols", String(toColumns), "rows", String(toRows)]);
    },
    exited,
    async [Symbol.asyncDispose]() {
      // The second one is for a gateway that asks a question.
      for (let times = 0; !gone && times < 2; times += 1) {
        input.write(keys.ctrlC);
        await Promise.race([exited, until(() => gone).catch(() => undefined)]);
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
