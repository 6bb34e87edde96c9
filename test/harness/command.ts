import { spawn } from "node:child_process";
import { mainFile } from "./gateway.ts";

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command to its end, as a user would in a shell. `input` is what it reads. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [mainFile, ...args], {
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
