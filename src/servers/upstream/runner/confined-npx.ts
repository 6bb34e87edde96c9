import type { SandboxRules, StdioTransport } from "../../../config/config.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { ProcessListener, SpawnServer } from "../stdio/server-process.ts";
import { npxFormOf, type NpxForm } from "./npx-form.ts";
import type { PackageRunner } from "./package-runner.ts";

/**
 * Installs what npx would start, in a sandbox that reaches the registry alone and with a cache of the server's own: one
 * that servers share could be poisoned by any of them. What was installed is then started directly, with the network of
 * its entry.
 */
export interface ConfinedNpx {
  /** How to start the server without npx; undefined where its command is no plain one. Rejects with SPAWN_FAILED. */
  install(
    transport: ConfinedTransport,
    listener: ProcessListener,
    signal: AbortSignal,
  ): Promise<StdioTransport | undefined>;
  /** Looks again the next time, because what was installed did not start. */
  forget(transport: StdioTransport, instance: string): void;
}

export type ConfinedTransport = StdioTransport & { readonly sandbox: SandboxRules };

export function isConfined(transport: StdioTransport): transport is ConfinedTransport {
  return transport.sandbox !== undefined;
}

/** A range or a tag may mean a newer version by then. */
const goodForMs = 86_400_000;
/** Far more servers than a gateway has; beyond it the oldest is looked for again. */
const mostKnown = 1_000;
/** npm takes more than a small server. */
const leastMb = 2_048;
const longestAnswer = 10_000;
const reachMs = 10_000;

/**
 * Runs inside. npx with a command of its own installs as ever and then starts that. If it cannot, what was installed
 * before is used, and that is said.
 */
const script = `
const { spawnSync } = require("node:child_process");
const { existsSync, readFileSync, utimesSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { createHash } = require("node:crypto");
const [, specification, name, npx] = process.argv;
const cache = process.env.npm_config_cache ?? process.env.NPM_CONFIG_CACHE ?? join(process.env.HOME, ".npm");
const folder = join(cache, "_npx", createHash("sha512").update(specification).digest("hex").slice(0, 16));
const manifest = join(folder, "node_modules", name, "package.json");
const known = () => {
  try {
    const { bin = {}, version } = JSON.parse(readFileSync(manifest, "utf8"));
    const bins = typeof bin === "string" ? [name.replace(/^@[^/]*\\//, "")] : Object.keys(bin);
    const own = bins.length === 1 ? bins[0] : bins.find((one) => one === name.replace(/^@[^/]*\\//, ""));
    const file = own === undefined ? "" : join(folder, "node_modules", ".bin", own);
    return existsSync(file) ? { file, version } : undefined;
  } catch {
    return undefined;
  }
};
const fresh = () => known() !== undefined && Date.now() - statSync(manifest).mtimeMs < ${goodForMs};
// Without the network npm takes what it knows, after a minute, and does not say so.
const isReached = async () => {
  if (known() === undefined || Object.keys(process.env).some((name) => /^https?_proxy$/i.test(name))) return true;
  const registry = process.env.npm_config_registry ?? process.env.NPM_CONFIG_REGISTRY ?? "https://registry.npmjs.org/";
  const asked = fetch(new URL(name, registry.replace(/\\/?$/, "/")), { method: "HEAD", signal: AbortSignal.timeout(${reachMs}) });
  return await asked.then(() => true, () => false);
};
(async () => {
let code = 0;
if (!fresh()) {
  const words = ["--yes", "--package=" + specification, "-c", ":"];
  code = (await isReached()) ? spawnSync(npx, words, { stdio: ["ignore", "ignore", "inherit"] }).status : 1;
  const now = new Date();
  if (code === 0 && known() !== undefined) utimesSync(manifest, now, now);
}
const found = known();
if (found !== undefined && code !== 0)
  process.stderr.write("(npm could not look for a newer version; version " + found.version + " is used, which is installed)\\n");
process.stdout.write(JSON.stringify(found ?? {}));
process.exitCode = found === undefined ? 1 : 0;
})();
`;

/** Nothing is known to be installed. */
export function createConfinedNpx(spawn: SpawnServer, clock: Pick<Clock, "now">): ConfinedNpx {
  const known = new Map<string, { readonly file: string; readonly atMs: number }>();

  return {
    async install(transport, listener, signal) {
      const form = npxFormOf(transport);
      if (form === undefined) return undefined;
      const key = keyOf(transport, listener.instance);
      const before = known.get(key);
      if (before !== undefined && clock.now() - before.atMs < goodForMs) return toDirect(transport, form, before.file);
      const file = await installOnce(transport, form, { spawn, listener, signal });
      known.delete(key);
      known.set(key, { file, atMs: clock.now() });
      const [oldest] = known.keys();
      if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
      return toDirect(transport, form, file);
    },
    forget: (transport, instance) => void known.delete(keyOf(transport, instance)),
  };
}

function keyOf({ command, args, env }: StdioTransport, instance: string): string {
  return JSON.stringify([instance, command, args, env]);
}

function toDirect(transport: StdioTransport, { args }: NpxForm, file: string): StdioTransport {
  return { ...transport, command: file, args };
}

interface Installing {
  readonly spawn: SpawnServer;
  readonly listener: ProcessListener;
  readonly signal: AbortSignal;
}

async function installOnce(
  transport: ConfinedTransport,
  { specification }: NpxForm,
  { spawn, listener, signal }: Installing,
): Promise<string> {
  const { sandbox, command } = transport;
  const name = specification.replace(/(?<=.)@.*$/, "");
  const rules = withRegistry(transport, "npx", { ...sandbox, network: sandbox.network === "host" ? "host" : [] });
  const memoryMb = Math.max(leastMb, sandbox.memoryMb);
  const child = await spawn(
    {
      ...transport,
      command: "node",
      args: ["-e", script, specification, name, command],
      sandbox: { ...rules, memoryMb, read: [], write: [], roots: [] },
    },
    listener,
    signal,
  );
  const stop = (): void => void child.stop(0);
  signal.addEventListener("abort", stop, { once: true });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text = `${text}${chunk.toString()}`.slice(0, longestAnswer)));
  await child.exited;
  await child.stop(0);
  signal.removeEventListener("abort", stop);
  if (signal.aborted) throw abortReason(signal);
  const file = /^\{"file":"((?:\/[\w.@+-]+)+)"/.exec(text)?.[1];
  if (file !== undefined) return file;
  throw new GatewayError("SPAWN_FAILED", `${specification} could not be installed in a sandbox`, {
    hint: "Its last output says why; `toolyard sandbox explain` says which registry it may reach.",
    data: { stderr: child.stderrTail() },
  });
}

const npm = ["registry.npmjs.org"];
const registries: Readonly<Record<PackageRunner, readonly string[]>> = {
  npx: npm,
  bunx: npm,
  uvx: ["pypi.org", "files.pythonhosted.org"],
  pipx: ["pypi.org", "files.pythonhosted.org"],
  docker: [],
};
const registryVariables = /^(?:npm_config_registry|uv_index_url|uv_default_index|pip_index_url)$/i;

/** The rules with the registries that a runner installs from beside the hosts of the entry. Pure. */
export function withRegistry(
  { env }: Pick<StdioTransport, "env">,
  runner: PackageRunner,
  rules: SandboxRules,
): SandboxRules {
  if (rules.network === "host") return rules;
  const named = Object.entries(env).flatMap(([name, value]) =>
    registryVariables.test(name) && URL.canParse(value) ? [new URL(value).host.toLowerCase()] : [],
  );
  return { ...rules, network: [...rules.network, ...(named.length > 0 ? named : registries[runner])] };
}
