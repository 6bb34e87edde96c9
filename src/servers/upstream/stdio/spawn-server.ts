import type { StdioTransport } from "../../../config/config.ts";
import type { SpawnServer, ServerProcess } from "./server-process.ts";
import { childEnvironment, type Environment } from "../../process/child-environment.ts";
import type { Guardian } from "../../process/guardian/guardian.ts";
import { spawnTree } from "../../process/spawn-tree.ts";
import { readStderr } from "../../process/stderr-lines.ts";
import { defaultTreeLimits, type Watchdog } from "../../process/guardian/watchdog.ts";

/** What starting servers needs. */
export interface SpawnServerDeps {
  readonly guardian: Guardian;
  readonly watchdog: Watchdog;
  /** The gateway's own environment; servers get a small, safe part of it. */
  readonly environment: Environment;
  /** Replaces secrets in what the server writes to stderr. */
  readonly redact: (text: string) => string;
}

/**
 * Makes the function that starts processes for `connectStdio`: each in a tree of its own, known to the guardian,
 * watched for excess, and with its stderr read at all times.
 */
export function createSpawnServer(deps: SpawnServerDeps): SpawnServer {
  return async (transport: StdioTransport, tell, signal): Promise<ServerProcess> => {
    signal.throwIfAborted();
    const onStderr = (line: string): void => tell(deps.redact(line), line);
    const tree = await spawnTree(
      {
        command: transport.command,
        args: transport.args,
        env: childEnvironment(deps.environment, transport.env),
        cwd: transport.cwd,
      },
      deps.guardian,
    );
    const stderr = readStderr(tree.stderr, {
      onLine: onStderr,
      onDropped: (bytes) => onStderr(`(${bytes} bytes of stderr were dropped: the server writes too much)`),
    });
    deps.watchdog.watch(tree, defaultTreeLimits, (reason) => onStderr(`(the server is killed: ${reason})`));
    return {
      pid: tree.pid,
      stdin: tree.stdin,
      stdout: tree.stdout,
      stderrTail: () => stderr.tail().map(deps.redact),
      exited: tree.exited,
      work: tree.work,
      async stop(timeoutMs, asksTwice = false) {
        if (timeoutMs === 0) {
          tree.kill();
          await tree.gone;
          return;
        }
        // The tree has its own deadline; no signal of a caller may leave it running.
        await tree.stop({ timeoutMs, asksTwice }, new AbortController().signal);
      },
    };
  };
}
