import { fileURLToPath } from "node:url";
import type { SandboxRules } from "../config.ts";
import type { SandboxMode, WrittenSandbox } from "../rows/sandbox-rows.ts";
import { toRootUri } from "../words/web-names.ts";

/** What relative paths and `~` mean, and what counts where the entry says nothing. */
export interface SandboxSource {
  readonly directory: string;
  /** Called where there are paths alone: who reads it makes HOME part of the identity of the configuration. */
  readonly home: () => string | undefined;
  readonly mode: SandboxMode;
  /** `file:` URIs that the server is told as its roots. */
  readonly roots: readonly string[];
}

/** Programs of a browser take this much together. */
const browserMb = 4_096;

/** The rules for a server's process; undefined where it is not confined. Pure. */
export function toSandboxRules(
  written: boolean | WrittenSandbox | undefined,
  { directory, home, mode, roots }: SandboxSource,
): SandboxRules | undefined {
  if (written === false ? mode !== "require" : written === undefined && mode === "off") return undefined;
  const { read = [], write = [], network, memoryMb, processes, tmpMb, browser = false } = toFields(written);
  const toPaths = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => toPath(toRootUri(path, { directory, home: home() })));
  return {
    read: toPaths(read),
    write: toPaths(write),
    roots: roots.flatMap(toPath),
    network: network ?? ["*"],
    memoryMb: memoryMb ?? (browser ? browserMb : 1_024),
    processes: processes ?? (browser ? 512 : 128),
    tmpMb: tmpMb ?? 256,
    browser,
    isOptional: written === undefined && mode === "auto",
  };
}

/** What a confined server may reach, one sentence each, for people. Pure. */
export function describeSandbox({ read, write, roots, network, browser }: SandboxRules): readonly string[] {
  const list = (paths: readonly string[]): string => [...new Set(paths)].join(", ");
  const readable = [...read, ...roots];
  return [
    "It sees the system's programs, its own program, what its arguments name, and a home of its own.",
    ...(readable.length === 0 ? [] : [`It also reads ${list(readable)}.`]),
    ...(write.length === 0 ? [] : [`It also writes ${list(write)}.`]),
    network === "host"
      ? "It uses the network of this machine, with all that listens on it."
      : network.length === 0
        ? "It has no network."
        : network.includes("*")
          ? "It reaches every public host on ports 80 and 443, and nothing on this machine."
          : `It reaches ${list(network)}, and nothing else.`,
    ...(browser ? ["It may start a browser."] : []),
  ];
}

function toFields(written: boolean | WrittenSandbox | undefined): WrittenSandbox {
  return typeof written === "object" ? written : {};
}

/** A URI of another machine is no path. */
function toPath(uri: string | undefined): readonly string[] {
  try {
    return uri === undefined ? [] : [fileURLToPath(uri)];
  } catch {
    return [];
  }
}
