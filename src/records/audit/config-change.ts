import { isDeepStrictEqual } from "node:util";
import type { Config, Person } from "../../config/config.ts";

/** The differences between two configurations, by name: no value of either. */
export interface ConfigChange {
  readonly servers: Difference;
  /** Names below `toolyard`. */
  readonly settings: readonly string[];
  /** Undefined where no one gained or lost a right. */
  readonly rights: RightsChange | undefined;
}

export interface RightsChange {
  /** Whose team, roles or tokens are others. */
  readonly principals: Difference;
  readonly teams: Difference;
  /** Tokens without an owner, by the first digits of their hashes. */
  readonly tokens: Difference;
}

interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

type Compared = Pick<Config, "servers" | "settings" | "people">;

/** `before` is undefined for the configuration of a start: everything in it is new. */
export function compareConfigs(before: Compared | undefined, next: Compared): ConfigChange {
  const settings = Object.keys(next.settings).filter(
    (name) =>
      before !== undefined && !isDeepStrictEqual(memberOf(before.settings, name), memberOf(next.settings, name)),
  );
  const rights: RightsChange = {
    principals: difference(before?.people.principals, next.people.principals, isSamePerson),
    teams: difference(before?.people.teams, next.people.teams, isDeepStrictEqual),
    tokens: difference(tokensOf(before), tokensOf(next), () => true),
  };
  return {
    servers: difference(serversOf(before), serversOf(next), (left, right) => isDeepStrictEqual(left, right)),
    settings,
    rights: Object.values(rights).every(isNone) ? undefined : rights,
  };
}

function serversOf(config: Compared | undefined) {
  return new Map((config?.servers ?? []).map((server) => [server.slug, server]));
}

function tokensOf(config: Compared | undefined): ReadonlyMap<string, null> {
  const digits = 12;
  const hashes = config?.settings.auth.tokenHashes ?? [];
  return new Map(hashes.map((hash) => [hash.replace("sha256:", "").slice(0, digits), null]));
}

function isSamePerson(left: Person, right: Person): boolean {
  return (
    left.team === right.team &&
    isDeepStrictEqual(left.roles, right.roles) &&
    isDeepStrictEqual(left.tokenHashes, right.tokenHashes)
  );
}

function difference<Value>(
  before: ReadonlyMap<string, Value> | undefined,
  next: ReadonlyMap<string, Value>,
  isSame: (left: Value, right: Value) => boolean,
): Difference {
  const old = before ?? new Map<string, Value>();
  return {
    added: few([...next.keys()].filter((name) => !old.has(name))),
    removed: few([...old.keys()].filter((name) => !next.has(name))),
    changed: few(
      [...next]
        .filter(([name, value]) => old.has(name) && !isSame(old.get(name) as Value, value))
        .map(([name]) => name),
    ),
  };
}

/** An entry is for people to read: of ten thousand names it says how many there are. */
const mostNames = 100;

function few(names: readonly string[]): readonly string[] {
  return names.length <= mostNames ? names : [...names.slice(0, mostNames), `and ${names.length - mostNames} more`];
}

function isNone({ added, removed, changed }: Difference): boolean {
  return added.length + removed.length + changed.length === 0;
}

function memberOf(settings: object, name: string): unknown {
  return (settings as Readonly<Record<string, unknown>>)[name];
}
