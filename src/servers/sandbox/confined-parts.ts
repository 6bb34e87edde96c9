import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxRules } from "../../config/config.ts";
import type { TreeLimits } from "../process/guardian/watchdog.ts";
import type { Confined, WantedProcess } from "../upstream/stdio/server-process.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { innerHome } from "./program-places.ts";

/** Why something cannot be confined, as the end of a sentence, and what to do about it. */
export interface NoEngine {
  readonly why: string;
  readonly hint: string;
}

/** An engine of this machine, found and ready. */
export interface FoundEngine {
  /** `bubblewrap 0.8.0` */
  readonly name: string;
  /** Why a server with these rules cannot be confined by it; undefined where it can. */
  lacks(rules: SandboxRules): NoEngine | undefined;
  /**
   * Decides what the process sees, and makes its home. Rejects with SANDBOX_REFUSED, SANDBOX_UNAVAILABLE or
   * SPAWN_FAILED; then nothing is left of it.
   */
  prepare(wanted: WantedProcess, own: OwnPlaces, signal: AbortSignal): Promise<Confined>;
}

/** Folders of confined servers in the data directory, by instance. */
export function folderOf(dataDir: string, instance: string): string {
  const name = instance.replaceAll(/[^a-zA-Z0-9_-]+/g, "-").slice(0, 40);
  const hash = createHash("sha256").update(instance).digest("hex").slice(0, 12);
  return join(dataDir, "sandboxes", `${name}-${hash}`);
}

/** Makes the home of a confined server, which stays. */
export async function makeHome({ dataDir }: Pick<OwnPlaces, "dataDir">, instance: string): Promise<string> {
  const home = join(folderOf(dataDir, instance), "home");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return home;
}

/** In a network in which the gateway answers. */
export const nameServerText = "nameserver 127.0.0.1\n";
export const hostsText = "127.0.0.1 localhost\n::1 localhost\n";

const proxyVariable = /^(?:https?|all|no)_proxy$/i;
/** Folders of the gateway's user, which are not there inside. */
const homeVariable = /^(?:HOME|TMPDIR|XDG_(?:CACHE|CONFIG|DATA|STATE|RUNTIME)_(?:HOME|DIR))$/;

/** The variables that a confined process gets. Pure. */
export function innerEnvironment({ env, sandbox, given }: WantedProcess): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    ([name]) => name in given || !(homeVariable.test(name) || (sandbox.network !== "host" && proxyVariable.test(name))),
  );
  return { HOME: innerHome, ...Object.fromEntries(kept) };
}

/** Whether a server may reach hosts by their names. Pure. */
export function hasNames(rules: SandboxRules): rules is SandboxRules & { readonly network: readonly string[] } {
  return rules.network !== "host" && rules.network.length > 0;
}

/** What the watchdog allows to a whole tree. Pure. */
export function toTreeLimits({ memoryMb, processes }: SandboxRules): TreeLimits {
  // Bubblewrap itself takes up to four of them.
  return { processes: processes + 4, residentBytes: memoryMb * 1024 ** 2 };
}
