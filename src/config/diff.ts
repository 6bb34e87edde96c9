import { isDeepStrictEqual } from "node:util";
import type { Config, ServerConfig } from "./config.ts";

export interface ConfigDiff {
  readonly added: readonly ServerConfig[];
  readonly changed: readonly ChangedServer[];
  readonly removed: readonly ServerConfig[];
  /** The servers of `after` that are as they were: nothing of theirs is touched. */
  readonly unchanged: readonly ServerConfig[];
  readonly settingsChanged: boolean;
  readonly peopleChanged: boolean;
}

export interface ChangedServer {
  readonly before: ServerConfig;
  readonly after: ServerConfig;
  /** What reaches the server changed, or it was switched on or off: its process and catalog are no longer valid. */
  readonly restart: boolean;
}

/** What a new configuration means for each server, told apart by slug. Pure. */
export function diffConfig(before: Config, after: Config): ConfigDiff {
  const earlier = new Map(before.servers.map((server) => [server.slug, server]));
  const kept = new Set(after.servers.map((server) => server.slug));
  const pairs = after.servers.flatMap((server) => {
    const old = earlier.get(server.slug);
    return old ? [{ before: old, after: server, restart: needsRestart(old, server) }] : [];
  });
  const changed = pairs.filter((pair) => !isDeepStrictEqual(pair.before, pair.after));
  const changedSlugs = new Set(changed.map((pair) => pair.after.slug));
  return {
    added: after.servers.filter((server) => !earlier.has(server.slug)),
    changed,
    removed: before.servers.filter((server) => !kept.has(server.slug)),
    unchanged: after.servers.filter((server) => earlier.has(server.slug) && !changedSlugs.has(server.slug)),
    settingsChanged: !isDeepStrictEqual(before.settings, after.settings),
    peopleChanged: !isDeepStrictEqual(before.people, after.people),
  };
}

function needsRestart(before: ServerConfig, after: ServerConfig): boolean {
  const wasOn = before.disabledReason === undefined;
  return before.hash !== after.hash || wasOn !== (after.disabledReason === undefined);
}

/** Whether two configurations mean the same, wherever they came from. */
export function isSameConfig(a: Config, b: Config): boolean {
  return (
    isDeepStrictEqual(a.servers, b.servers) &&
    isDeepStrictEqual(a.settings, b.settings) &&
    isDeepStrictEqual(a.people, b.people) &&
    isDeepStrictEqual(a.warnings, b.warnings)
  );
}
