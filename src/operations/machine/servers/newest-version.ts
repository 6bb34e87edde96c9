import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { getFollowing, toReason } from "../../../wire/http/plain-request.ts";

export interface PackageAsk {
  readonly kind: "npm" | "pypi";
  /** `@scope/name`, or `name`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const timeoutMs = 30_000;
/** Packages with thousands of files have lists of ten megabytes. */
const longestIndex = 64 * 1024 * 1024;

/**
 * The newest version of a package, which is then pinned: what runs changes when the configuration does, and not when
 * somebody publishes something. npm is asked itself, so that its own registry, proxy and credentials are used; for
 * PyPI the index that uv or pip are configured with, through the proxy of the environment. Rejects with
 * REGISTRY_FAILED.
 */
export async function newestVersion(ask: PackageAsk): Promise<string> {
  try {
    return await (ask.kind === "npm" ? askNpm(ask) : askIndex(ask));
  } catch (error) {
    ask.signal.throwIfAborted();
    throw new GatewayError(
      "REGISTRY_FAILED",
      `the newest version of ${ask.name} cannot be found out: ${whyOf(error)}`,
      {
        cause: error,
        hint: `Check the name, or give a version: ${ask.kind}:${ask.name}${ask.kind === "npm" ? "@" : "=="}1.2.3.`,
      },
    );
  }
}

async function askNpm({ name, env, signal }: PackageAsk): Promise<string> {
  const isWindows = process.platform === "win32";
  const { stdout } = await promisify(execFile)(isWindows ? "npm.cmd" : "npm", ["view", name, "version", "--json"], {
    env: { ...env },
    signal,
    timeout: timeoutMs,
    // Windows runs .cmd files in a shell only. The name has been checked to have nothing in it that a shell acts on.
    shell: isWindows,
  });
  const version: unknown = JSON.parse(stdout);
  if (typeof version !== "string") throw new Error("npm names no version");
  return version;
}

/** PEP 691 and 700: every index has a list of versions as JSON. */
async function askIndex({ name, env, signal }: PackageAsk): Promise<string> {
  const index = env["UV_DEFAULT_INDEX"] || env["UV_INDEX_URL"] || env["PIP_INDEX_URL"] || "https://pypi.org/simple";
  const { status, text } = await getFollowing({
    url: `${index.replace(/\/+$/, "")}/${name.toLowerCase().replace(/[-_.]+/g, "-")}/`,
    headers: { accept: "application/vnd.pypi.simple.v1+json" },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    env,
    mostBytes: longestIndex,
  });
  if (status < 200 || status >= 300) throw new Error(`the index answered ${status}`);
  const newest = newestRelease(versionsIn(text));
  if (newest === undefined) throw new Error("it has no release");
  return newest;
}

/** Only this list is parsed: those of files are longer by far, and a gateway would not answer meanwhile. */
function versionsIn(text: string): readonly string[] {
  const list = /"versions"\s*:\s*(\[[^\]]*\])/g;
  list.lastIndex = Math.max(0, text.lastIndexOf('"versions"'));
  const versions: unknown = JSON.parse(list.exec(text)?.[1] ?? "[]");
  return Array.isArray(versions) ? versions.filter((version) => typeof version === "string") : [];
}

/** The highest version that is no pre-release (PEP 440). Undefined when there is none. */
export function newestRelease(versions: readonly string[]): string | undefined {
  return versions
    .filter((version) => /^\d+(\.\d+)*(\.post\d+)?$/.test(version))
    .sort((one, other) => compare(numbersOf(one), numbersOf(other)))
    .at(-1);
}

function numbersOf(version: string): readonly number[] {
  const [release = "", post = "-1"] = version.split(".post");
  // A post-release comes after its release, whatever number of parts that has.
  return [...release.split(".").map(Number), ...Array.from({ length: 8 }, () => 0)].slice(0, 8).concat(Number(post));
}

function compare(one: readonly number[], other: readonly number[]): number {
  const place = one.findIndex((number, index) => number !== other[index]);
  return place === -1 ? 0 : (one[place] ?? 0) - (other[place] ?? 0);
}

/** npm says why on stderr. */
function whyOf(error: unknown): string {
  const { code, stderr } = Object(error) as { readonly code?: unknown; readonly stderr?: unknown };
  const line = typeof stderr === "string" ? /^npm (?:error|ERR!) (?!code)(.+)$/m.exec(stderr)?.[1] : undefined;
  if (line !== undefined) return line;
  return code === "ENOENT" ? "there is no npm in PATH" : toReason(error);
}
