import { spawn } from "node:child_process";
import { join } from "node:path";
import { mainFile } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";

export interface RunningCommand {
  /** The address that the person is asked to open. */
  address(): Promise<string>;
  readonly ended: Promise<number | null>;
  /** What Ctrl-C does. */
  interrupt(): void;
  stdout(): string;
  stderr(): string;
}

/**
 * `toolyard <command> ...` on the configuration and data of a gateway's folder; without a browser unless the test
 * brings one.
 */
export function runCommand(
  directory: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  withBrowser = false,
): RunningCommand {
  const [command = "", ...rest] = args;
  const common = ["--config", join(directory, "toolyard.json"), "--data-dir", join(directory, "data")];
  const noBrowser = command === "login" && !withBrowser ? ["--no-browser"] : [];
  const child = spawn(process.execPath, [mainFile, command, ...rest, ...common, ...noBrowser], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stdout = "";
  let stderr = "";
  let gone = false;
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  void ended.then(() => (gone = true));
  return {
    async address() {
      return await until(() => {
        const found = /^ {2}(http\S+)$/m.exec(stderr)?.[1];
        if (found === undefined && gone) throw new Error(`the command ended:\n${stderr}`);
        return found;
      });
    },
    ended,
    interrupt: () => void child.kill("SIGINT"),
    stdout: () => stdout,
    stderr: () => stderr,
  };
}
