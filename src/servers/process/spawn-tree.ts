import type { StdioOptions } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Guardian } from "./guardian.ts";
import { openProcess } from "./open-process.ts";
import { createTreeLifetime, type Exit, type TreeLifetime } from "./tree-lifetime.ts";

export interface TreeSpec {
  readonly command: string;
  /** Passed byte for byte, without a shell. */
  readonly args: readonly string[];
  /** The child's whole environment but for TOOLYARD_INSTANCE; `childEnvironment` builds it. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A server's process and everything that it started. */
export interface ProcessTree extends TreeLifetime {
  /** Of the server itself, which founded process group and session of the tree. */
  readonly pid: number;
  /** Raw streams. stderr has to be read always: a full pipe stops the server. Their errors need no listener. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the server itself exits, even when a grandchild still holds its stdout (fault 75). Never rejects. */
  readonly exited: Promise<Exit>;
}

/**
 * Starts a stdio server in a process group and session of its own, marked so that its guardian and later gateways
 * find all of it. Throws SPAWN_FAILED at once when it cannot be started, with the reason.
 */
export async function spawnTree(spec: TreeSpec, guardian: Guardian): Promise<ProcessTree> {
  const { mark, variable } = await guardian.admit();
  const child = await openProcess({
    command: spec.command,
    args: spec.args,
    options: {
      cwd: spec.cwd,
      env: { ...spec.env, [variable[0]]: variable[1] },
      detached: true,
      stdio: ["pipe", "pipe", "pipe"] satisfies StdioOptions,
      windowsHide: true,
    },
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr)
    throw new GatewayError("SPAWN_FAILED", `${spec.command} started without pipes`);
  guardian.add(pid);
  // A peer that goes away is told by `exited`; an unheard stream error would end the gateway.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
  const exited = new Promise<Exit>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const lifetime = createTreeLifetime({
    pid,
    mark,
    exited,
    streams: { stdin, stdout, stderr },
    guardian,
  });
  return { pid, stdin, stdout, stderr, exited, ...lifetime };
}
