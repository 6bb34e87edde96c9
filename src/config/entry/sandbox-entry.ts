import { fileURLToPath } from "node:url";
import type { SandboxRules, ServerConfig } from "../config.ts";
import type { SandboxEngine, SandboxMode, WrittenSandbox } from "../rows/sandbox-rows.ts";
import { toRootUri } from "../words/web-names.ts";
import { hasProcess } from "./transports.ts";
import { isWideOrPrivate } from "../words/wide-places.ts";

/** What relative paths and `~` mean, and what counts where the entry says nothing. */
export interface SandboxSource {
  readonly directory: string;
  /** Called where there are paths alone: who reads it makes HOME part of the identity of the configuration. */
  readonly home: () => string | undefined;
  readonly mode: SandboxMode;
  readonly engine: SandboxEngine;
  /** `file:` URIs that the server is told as its roots. */
  readonly roots: readonly string[];
}

/** Programs of a browser take this much together. */
const browserMb = 4_096;

/** The rules for a server's process; undefined where it is not confined. Pure. */
export function toSandboxRules(written: true | WrittenSandbox, source: SandboxSource): SandboxRules;
export function toSandboxRules(
  written: boolean | WrittenSandbox | undefined,
  source: SandboxSource,
): SandboxRules | undefined;
export function toSandboxRules(
  written: boolean | WrittenSandbox | undefined,
  { directory, home, mode, roots, ...source }: SandboxSource,
): SandboxRules | undefined {
  if (written === false ? mode !== "require" : written === undefined && mode === "off") return undefined;
  const fields = toFields(written);
  const { read = [], write = [], network, memoryMb, processes, tmpMb, browser = false } = fields;
  const { image, engine = source.engine } = fields;
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
    ...{ browser, engine, image },
    isOptional: written === undefined && mode === "auto",
  };
}

/** What a confined server may reach, one sentence each, for people. Pure. */
export function describeSandbox(rules: SandboxRules): readonly string[] {
  const { read, write, roots, network, browser, image } = rules;
  const list = (paths: readonly string[]): string => [...new Set(paths)].join(", ");
  const readable = [...read, ...roots];
  return [
    image === undefined
      ? "It sees the system's programs, its own program, what its arguments name, and a home of its own."
      : `It sees the image ${image}, what its arguments name, and a home of its own.`,
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

/** How an entry's own sandbox is wider than what a person expects of one. */
export type SandboxMark =
  | "runs without a sandbox"
  | "its sandbox reads wide or private folders"
  | "its sandbox writes wide or private folders"
  | "its sandbox reaches this machine or private networks";

/**
 * How an entry that somebody else wrote loosens its sandbox, in the order of the type. Looks at no disk: links are the
 * business of the start. Pure.
 */
export function sandboxMarks(
  written: boolean | WrittenSandbox | undefined,
  { directory, home, mode }: Omit<SandboxSource, "roots" | "engine">,
): readonly SandboxMark[] {
  if (typeof written !== "object") return written === false && mode !== "off" ? ["runs without a sandbox"] : [];
  // What a reference to another variable leads to is not known.
  const fill = (paths: readonly string[] = []): readonly string[] =>
    paths.map((path) => {
      const text = path.replace(/^\$\{(?:env:)?(?:HOME|userHome)\}/, "~").replace(/^\$\{workspaceFolder\}/, ".");
      return text.includes("${") ? "/" : text;
    });
  const filled = { ...written, read: fill(written.read), write: fill(written.write) };
  const rules = toSandboxRules(filled, { directory, home, mode, engine: "auto", roots: [] });
  return rules === undefined ? [] : ruleMarks(rules, home());
}

/** The same of a server as its entry was understood. */
export function loosenedSandbox(
  { transport }: Pick<ServerConfig, "transport">,
  { home, mode }: { readonly home: string | undefined; readonly mode: SandboxMode },
): readonly SandboxMark[] {
  if (!hasProcess(transport)) return [];
  if (transport.sandbox !== undefined) return ruleMarks(transport.sandbox, home);
  return mode === "off" ? [] : ["runs without a sandbox"];
}

function ruleMarks({ read, write, network }: SandboxRules, home: string | undefined): readonly SandboxMark[] {
  const isLoose = (path: string): boolean => isWideOrPrivate(path, home);
  // A name that is written in full with its port may lead to any address.
  const reachesPrivate = network === "host" || network.some((name) => /^[^*]+:\d+$/.test(name));
  return [
    ...(read.some(isLoose) ? ["its sandbox reads wide or private folders" as const] : []),
    ...(write.some(isLoose) ? ["its sandbox writes wide or private folders" as const] : []),
    ...(reachesPrivate ? ["its sandbox reaches this machine or private networks" as const] : []),
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
