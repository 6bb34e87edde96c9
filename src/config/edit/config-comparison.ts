import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { Config, ServerConfig } from "../config.ts";
import { hiddenValue, hideMembers } from "./config-listing.ts";
import { changedForNextStart } from "../settings/settings.ts";

/** A value that is another one in the second configuration. A side that has none is null. */
export interface ConfigDifference {
  /** `toolyard.limits.sessions`, `servers.github.args`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Whether the gateway has to be started again for it. */
  readonly needsRestart: boolean;
}

export interface ComparedConfigs {
  /** The one in force. */
  readonly current: Config;
  /** The one that the gateway was started with: some parts were made from it for good. */
  readonly started: Config;
  readonly next: Config;
}

/** What `next` would change. Values whose names say that they are secret are hidden; other secrets are not. */
export function compareConfigs({ current, started, next }: ComparedConfigs): readonly ConfigDifference[] {
  const late = new Set(changedForNextStart(started.settings, next.settings));
  const before = { ...facts(current), ...pick(facts(started), late) };
  const after = facts(next);
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return paths
    .filter((path) => !isDeepStrictEqual(before[path], after[path]))
    .map((path) => ({
      path,
      before: shown(path, before[path]),
      after: shown(path, after[path]),
      needsRestart: [...late].some((setting) => isSettingOrBelow(path, setting)),
    }));
}

type Facts = Readonly<Record<string, unknown>>;

function isSettingOrBelow(path: string, setting: string): boolean {
  return path === `toolyard.${setting}` || path.startsWith(`toolyard.${setting}.`);
}

function pick(from: Facts, settings: ReadonlySet<string>): Facts {
  return Object.fromEntries(
    Object.entries(from).filter(([path]) => [...settings].some((setting) => isSettingOrBelow(path, setting))),
  );
}

/** Every value by its path. What follows from others (a hash, a slug) is left out. */
function facts({ settings, servers, people }: Config): Facts {
  return Object.fromEntries([
    ...flatten(["toolyard"], settings),
    ...servers.flatMap((server) => flatten(["servers", server.key], entryOf(server))),
    ...flatten(
      ["toolyard", "principals"],
      Object.fromEntries(
        [...people.principals].map(([id, person]) => [id, { ...person, servers: Object.fromEntries(person.servers) }]),
      ),
    ),
    ...flatten(
      ["toolyard", "teams"],
      Object.fromEntries([...people.teams].map(([id, team]) => [id, { servers: Object.fromEntries(team) }])),
    ),
  ]);
}

function entryOf({ hash: _hash, slug: _slug, key: _key, staysForClients: _stays, ...entry }: ServerConfig): object {
  return entry;
}

function flatten(path: readonly string[], value: unknown): readonly (readonly [string, unknown])[] {
  if (!isJsonObject(value)) return value === undefined ? [] : [[path.join("."), value]];
  return Object.entries(value).flatMap(([name, member]) => flatten([...path, name], member));
}

function shown(path: string, value: unknown): unknown {
  if (value === undefined) return null;
  return /\.(env|headers)\.[^]*$/.test(path) ? hiddenValue : hideMembers(value, undefined, path.split("."));
}
