import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";

/** What a node's environment has beside the address of its pod. */
export const nodeEnvironment = {
  TOOLYARD_DATABASE: "postgres://toolyard:x@postgres/toolyard",
  TOOLYARD_TOKEN_HASH: `sha256:${"0".repeat(64)}`,
};

/** The settings that a node has with that configuration file. */
export async function settingsOf(file: string, env: Readonly<Record<string, string>>): Promise<Settings> {
  const home = join(tmpdir(), "no-such-home");
  const homeDirectories = { config: home, data: home, old: home };
  const all = { ...nodeEnvironment, ...env };
  const { settings } = await loadConfig({ file, cwd: home, homeDirectories, env: all, flags: {} } as never);
  return settings;
}

/** What has to pass before a node may be killed, in seconds. */
export const graceOf = ({ noticeMs, instances }: Settings): number =>
  Math.ceil((noticeMs + instances.drainTimeoutMs) / 1_000) + 10;
