import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";
import type { PersonalValues } from "../../config/people/personal.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { Directory } from "./directory.ts";

/**
 * The people of a configuration. All of them are known locally, and they change only when another configuration is
 * applied.
 */
export interface ConfigDirectory extends Directory {
  /** Replaces the people by those of another configuration. */
  follow(config: PeopleConfig): void;
}

/** The parts of a configuration that concern people. */
export type PeopleConfig = Pick<Config, "people" | "settings">;

interface Holder {
  readonly principal: Principal;
  readonly hashes: readonly string[];
}

/** The secrets of these people are in the configuration, whose secrets are redacted anyway. */
const none: ReadonlySet<string> = new Set();

/** By the principal's id, and its profile behind that. */
type Holders = ReadonlyMap<string, Holder>;

/** A directory of the people of one configuration. */
export function createConfigDirectory(first: PeopleConfig): ConfigDirectory {
  let people = first.people;
  let holders = readHolders(first, new Map());
  let tokens = indexTokens(holders);
  /** Tokens of profiles narrow what everybody may use; they close no door. */
  const isOpen = (): boolean => [...holders.values()].every(({ principal }) => principal.profile !== undefined);

  return {
    get open() {
      return holders.size === 0 || isOpen();
    },
    get narrows() {
      return holders.size > 0;
    },
    // A lookup by hash needs no comparison in constant time: its duration says nothing about the token.
    byToken: (hash) => tokens.get(hash),
    byId(id) {
      if (isOpen()) return id === localPrincipal.id ? localPrincipal : undefined;
      return holders.get(id)?.principal;
    },
    isCurrent: (principal) =>
      principal === localPrincipal ? isOpen() : holders.get(keyOf(principal))?.principal === principal,
    credentialsOf: (id) => holders.get(id)?.hashes ?? [],
    valuesFor: (id, slug): PersonalValues => {
      const person = people.principals.get(id);
      return {
        team: person?.team == null ? undefined : people.teams.get(person.team)?.get(slug),
        user: person?.servers.get(slug),
        isOnlyUser: people.principals.size === 0,
      };
    },
    secrets: () => none,
    onChange: () => () => undefined,
    follow(config) {
      people = config.people;
      holders = readHolders(config, holders);
      tokens = indexTokens(holders);
    },
  };
}

/**
 * Reads the people. A person who has lost no token since `before` and is otherwise unchanged keeps the same principal
 * object; anybody else gets a new one.
 */
function readHolders({ settings, people }: PeopleConfig, before: Holders): Holders {
  const holders = new Map<string, Holder>();
  const enter = (tokenHashes: readonly string[], wanted: Principal): void => {
    const hashes = tokenHashes.map((hash) => hash.replace(/^sha256:/, "").toLowerCase());
    const known = before.get(keyOf(wanted));
    const stays =
      known !== undefined &&
      isDeepStrictEqual({ ...known.principal }, wanted) &&
      known.hashes.every((hash) => hashes.includes(hash));
    holders.set(keyOf(wanted), { hashes, principal: stays ? known.principal : Object.freeze({ ...wanted }) });
  };
  if (settings.auth.tokenHashes.length > 0) enter(settings.auth.tokenHashes, { ...localPrincipal, via: "config" });
  for (const { id, team, roles, tokenHashes } of people.principals.values())
    enter(tokenHashes, { id, user: null, via: "config", team, roles, scopes: [] });
  for (const [profile, { tokenHashes = [] }] of Object.entries(settings.profiles))
    if (tokenHashes.length > 0) enter(tokenHashes, { ...localPrincipal, via: "config", profile });
  return holders;
}

function keyOf({ id, profile }: Pick<Principal, "id" | "profile">): string {
  return profile === undefined ? id : `${id}\n${profile}`;
}

function indexTokens(holders: Holders): ReadonlyMap<string, Principal> {
  const tokens = new Map<string, Principal>();
  for (const { principal, hashes } of holders.values()) for (const hash of hashes) tokens.set(hash, principal);
  return tokens;
}
