import { join } from "node:path";
import type { SandboxRules } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { mostTasks } from "./bubblewrap.ts";
import { innerHome } from "./program-places.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

export const containerKinds = ["docker", "podman"] as const;

export type ContainerKind = (typeof containerKinds)[number];

/** Tells a later gateway that this engine may have containers of ours. */
export function traceOf(dataDir: string, kind: ContainerKind): string {
  return join(dataDir, "sandboxes", `used-${kind}`);
}

/** A container that is to be made. */
export interface ContainerShape {
  readonly kind: ContainerKind;
  readonly name: string;
  /** `name=value`, by which it is found again. */
  readonly label: string;
  readonly rules: SandboxRules;
  readonly plan: SandboxPlan;
  /** The folder on this machine that is the server's home. */
  readonly home: string;
  /** A folder of this machine with nothing in it. */
  readonly empty: string;
  readonly cwd: string;
  readonly args: readonly string[];
  /** `uid:gid` inside. */
  readonly user: string;
  readonly isRootless: boolean;
  readonly variables: {
    /** On the command line. */
    readonly said: Readonly<Record<string, string>>;
    /** From the environment of the engine's command. */
    readonly inherited: Readonly<Record<string, string>>;
  };
  /** Files of ours that take the place of others. */
  readonly files: readonly { readonly source: string; readonly target: string }[];
}

/**
 * The words after `docker` or `podman` that make the container, which is not started by them. Pure. Throws
 * SANDBOX_REFUSED for a path that cannot be said there.
 */
export function containerArguments(shape: ContainerShape): readonly string[] {
  const { kind, rules, plan, variables } = shape;
  const { memoryMb, processes, tmpMb, browser, network, image = "" } = rules;
  return [
    ...["create", "--name", shape.name, "--label", shape.label, "--interactive", "--rm", "--pull", "never"],
    ...["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", shape.user],
    ...["--network", network === "host" ? "host" : "none"],
    ...["--memory", `${memoryMb}m`, "--memory-swap", `${memoryMb}m`, "--pids-limit", String(mostTasks(processes))],
    ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,size=${tmpMb}m,mode=1777`],
    ...(browser ? ["--shm-size", `${tmpMb}m`] : []),
    // What goes through the streams is not to be written to the engine's own logs.
    ...["--log-driver", "none", "--no-healthcheck", "--stop-timeout", "0", "--workdir", shape.cwd],
    ...(kind === "podman" ? ["--http-proxy=false", "--read-only-tmpfs=false"] : []),
    ...(kind === "podman" && shape.isRootless ? ["--userns", "keep-id"] : []),
    ...mount(shape.home, innerHome, true),
    ...placeArguments(shape),
    ...shape.files.flatMap(({ source, target }) => mount(source, target, false)),
    ...Object.entries(variables.said).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...Object.keys(variables.inherited).flatMap((name) => ["--env", name]),
    // The command is the entry's, not the image's.
    ...["--entrypoint", "", image, plan.command ?? "", ...shape.args],
  ];
}

/** Outer places first: not every engine sorts all of them. */
function placeArguments({ plan, empty }: ContainerShape): readonly string[] {
  const shown = plan.visible.map(({ source, target, isWritable }) => ({ source, target, isWritable }));
  const hidden = plan.hidden.map(({ path, isFolder }) => ({
    source: isFolder ? empty : "/dev/null",
    target: path,
    isWritable: false,
  }));
  return [...shown, ...hidden]
    .toSorted((a, b) => a.target.length - b.target.length)
    .flatMap(({ source, target, isWritable }) => mount(source, target, isWritable));
}

function mount(source: string, target: string, isWritable: boolean): readonly string[] {
  const place = `type=bind,source=${sayable(source)},destination=${sayable(target)}`;
  return ["--mount", isWritable ? place : `${place},readonly`];
}

/** Throws SANDBOX_REFUSED: a mount is a list with commas, and engines do not agree on how to quote one. */
function sayable(path: string): string {
  if (!/[,"\n\r]/.test(path)) return path;
  throw new GatewayError("SANDBOX_REFUSED", `an engine of containers cannot bind ${JSON.stringify(path)}`, {
    hint: "Rename it: commas, quotation marks and line breaks are not possible there.",
  });
}
