import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { toSpawnFailure } from "./spawn-failure.ts";

export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions & { readonly cwd: string };
}

/**
 * Starts a process without a shell: argv arrives byte for byte. Resolves within the same turn when the program runs
 * (exec has succeeded by then); throws SPAWN_FAILED with the reason when it does not. Late errors of the handle are
 * swallowed: `exit` tells all.
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
