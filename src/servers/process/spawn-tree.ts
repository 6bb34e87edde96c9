import type { Duplex, Readable, Writable } from "node:stream";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Guardian } from "./guardian/guardian.ts";
import { openProcess } from "./open-process.ts";
import { createTreeLifetime, type Exit, type TreeLifetime } from "./guardian/tree-lifetime.ts";

/** A server to start. */
export interface TreeSpec {
  readonly command: string;
  /** Passed on byte for byte, without a shell. */
  readonly args: readonly string[];
  /** The server's whole environment except TOOLYARD_INSTANCE; `childEnvironment` makes it. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** How many pipes it has beside the three usual ones, from descriptor 3 on. */
  readonly pipeCount?: number;
  /** Whether a process only holds the server, and must not be asked to end: the server would end with it, at once. */
  readonly isEngine?: (pid: number) => boolean;
}

/** A server's process and everything that it starts. */
export interface ProcessTree extends TreeLifetime {
  /** The pid of the server itself, which founded the tree's process group and session. */
  readonly pid: number;
  /**
   * Raw streams; their errors need no listener. stderr must be read at all times, because a full pipe stops the
   * server.
   */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The further pipes that were asked for. */
  readonly pipes: readonly Duplex[];
  /** Settles when the server itself exits, even if a descendant still holds its stdout (fault 75). Never rejects. */
  readonly exited: Promise<Exit>;
}

/**
 * Starts a stdio server in a process group and session of its own, with a mark by which the guardian and later
 * gateways find all of it. Rejects with SPAWN_FAILED and the reason when it cannot be started.
 */
export async function spawnTree(spec: TreeSpec, guardian: Guardian): Promise<ProcessTree> {
  const { mark, variable } = await guardian.nameTree();
  const child = await openProcess({
    command: spec.command,
    args: spec.args,
    options: {
      cwd: spec.cwd,
      env: { ...spec.env, [variable[0]]: variable[1] },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", ...Array.from<"pipe">({ length: spec.pipeCount ?? 0 }).fill("pipe")],
      windowsHide: true,
    },
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr)
    throw new GatewayError("SPAWN_FAILED", `${spec.command} started without pipes`);
  guardian.add(pid);
  // `exited` tells when the server has ended; a stream error without a listener would end the gateway.
  const pipes = child.stdio.slice(3) as unknown as readonly Duplex[];
  for (const stream of [stdin, stdout, stderr, ...pipes]) stream.on("error", () => undefined);
  const exited = new Promise<Exit>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const lifetime = createTreeLifetime({
    pid,
    mark,
    exited,
    streams: { stdin, stdout, stderr },
    guardian,
    isEngine: spec.isEngine,
  });
  return { pid, stdin, stdout, stderr, pipes, exited, ...lifetime };
}
