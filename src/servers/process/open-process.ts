import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { toSpawnFailure } from "./spawn-failure.ts";

/** What to start; `command` is looked up in PATH and gets its arguments unchanged. */
export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions & { readonly cwd: string };
}

/**
 * Starts a process without a shell, so that its arguments arrive byte for byte. When the promise resolves, the
 * program runs (exec has succeeded). Rejects with SPAWN_FAILED and the reason when it cannot be started. Later errors
 * of the handle are ignored; its `exit` event tells all.
 */
export async function openProcess({ command, args, options }: ProcessSpec): Promise<ChildProcess> {
  const attempt = { command, cwd: options.cwd };
  let child: ChildProcess;
  try {
    child = spawn(command, [...args], options);
  } catch (error) {
    throw toSpawnFailure(error, attempt);
  }
  const failed = new Promise<Error>((resolve) => child.on("error", resolve));
  if (child.pid === undefined) throw toSpawnFailure(await failed, attempt);
  return child;
}
