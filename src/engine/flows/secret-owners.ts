import type { ServerConfig } from "../../config/config.ts";
import { isSecretSetting } from "../../config/words/secret-names.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { KnownSecrets } from "../../records/redaction/known-secrets.ts";
import type { SecretPlace } from "./secret-search.ts";

export interface SecretOwnersDeps {
  readonly known: () => KnownSecrets;
  /** Every server that has values: of the configuration, and as it runs for somebody. */
  readonly servers: () => Iterable<ServerConfig>;
  /** The instance's server whose login a token is of. */
  readonly loginOf: (value: string) => ServerConfig | undefined;
  /** The variables that the configuration refers to, with their values. */
  readonly variables: () => Readonly<Record<string, string | null>>;
}

/** What a known value is to a server, and to somebody of this team. */
export type JudgeSecret = (value: string, server: ServerConfig, team: string | null) => SecretPlace | undefined;

/** The value's place in a server's entry, as people know it. */
type Places = ReadonlyMap<string, string>;

/**
 * Says whose a known secret is. A value belongs to every server in whose entry it is, as a whole or as a part
 * (`Bearer ${TOKEN}`), regardless of the person. Words, short numbers, and what looks like a path, an address
 * or a host count only under a name that speaks of a secret; words and short numbers never.
 */
export function createSecretOwners(deps: SecretOwnersDeps): JudgeSecret {
  const known = new WeakMap<ServerConfig, { readonly of: KnownSecrets; readonly places: Places }>();

  function placesIn(server: ServerConfig): Places {
    const of = deps.known();
    const before = known.get(server);
    if (before?.of === of) return before.places;
    const places = new Map<string, string>();
    for (const [name, text] of textsIn(server.transport, "")) {
      of.findWhole(text, (value) => {
        const earlier = places.get(value);
        if (earlier === undefined || (!isSecretSetting(earlier) && isSecretSetting(name))) places.set(value, name);
      });
    }
    known.set(server, { of, places });
    return places;
  }

  return (value, server, team) => {
    if (isWord(value)) return undefined;
    const own = ownerOf(server);
    const login = deps.loginOf(value);
    const owners: (readonly [ServerConfig, string])[] = login === undefined ? [] : [[login, "login"]];
    if (placesIn(server).has(value)) owners.push([server, ""]);
    else {
      for (const one of deps.servers()) {
        const name = placesIn(one).get(value);
        if (name !== undefined) owners.push([one, name]);
      }
    }
    if (owners.some(([one]) => ownerOf(one) === own)) return { isOwn: true, name: "" };
    const variable = variableOf(deps.variables(), value);
    const names = [...owners.map(([, name]) => name), variable ?? ""];
    if (isAddress(value) && !names.some((name) => name === "login" || isSecretSetting(name))) return undefined;
    const [shown] = owners.filter(([{ installed }]) => installed === undefined || installed.team === team);
    if (shown === undefined)
      return { isOwn: false, name: owners.length > 0 ? "a secret of another team" : (variable ?? "a secret value") };
    return { isOwn: false, name: `${variable ?? shown[1]} of ${shown[0].slug}` };
  };
}

/** One server for all who use it, whichever values they gave. */
function ownerOf({ installed, slug }: ServerConfig): string {
  return installed?.id ?? slug;
}

function variableOf(variables: Readonly<Record<string, string | null>>, value: string): string | undefined {
  return Object.keys(variables).find((name) => variables[name]?.includes(value) === true);
}

/** The texts of a transport, each with the name of what it is the value of. */
function* textsIn(value: unknown, name: string): Generator<readonly [name: string, text: string]> {
  if (typeof value === "string") yield [name, value];
  else if (Array.isArray(value)) for (const one of value) yield* textsIn(one, name);
  else if (isJsonObject(value)) for (const [key, one] of Object.entries(value)) yield* textsIn(one, key);
}

/** A single word as people write it, or a number of a few digits: it is in many texts that have no secret. */
function isWord(value: string): boolean {
  return /^(?:[a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11}|\d{1,8})$/.test(value);
}

/** A path, an address without credentials, a host, an e-mail address: people write them into calls. */
function isAddress(value: string): boolean {
  return (
    /^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/])/.test(value) ||
    /^[a-z][a-z0-9+.-]*:\/\/[^@?]*$/i.test(value) ||
    /^[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+$/.test(value) ||
    /^(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d{1,5})?$/i.test(value) ||
    /^[a-z]{2}_[A-Z]{2}(?:\.[\w-]+)?$/.test(value)
  );
}
