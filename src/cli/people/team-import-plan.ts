import type { ImportedEntry } from "../../config/clients/connect/client-entry.ts";
import { findLiteralSecrets, withSecretVariables } from "../../config/clients/import/literal-secrets.ts";
import { toConstant } from "../../config/words/variable-names.ts";
import { toSlug } from "../../config/words/slug.ts";
import { replaceReferences } from "../../config/file/substitution.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { CommandContext } from "../command/command-context.ts";

/** What would be done with one server of the file. */
export interface PlannedServer {
  /** Its name in the file. */
  readonly key: string;
  /** The same as templates and installations are called: in lower case, without spaces. */
  readonly name: string;
  /** Why it is left out; undefined where it is installed. */
  readonly leftOut?: string;
  /** As its template has it: without any secret. */
  readonly entry: JsonObject;
  /** Secrets of the team that are made for it. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Secrets that the team has already, and that its variables are named after. */
  readonly kept: readonly string[];
  /** Secrets of the team that it names, and that somebody has to set: variables that are not set here. */
  readonly missing: readonly string[];
}

export interface KnownOfTeam {
  /** Names that no server can get any more, with the reason. */
  readonly taken: ReadonlyMap<string, string>;
  readonly secrets: ReadonlySet<string>;
  readonly env: CommandContext["env"];
}

interface WrittenServer {
  readonly key: string;
  readonly written: unknown;
}

/** What would be done with all of them, in the order of the file. */
export function planServers(servers: readonly WrittenServer[], known: KnownOfTeam): readonly PlannedServer[] {
  const taken = new Map(known.taken);
  const nameFor = createSecretNames(known.secrets);
  return servers.map(({ key, written }) => {
    const name = toSlug(key).toLowerCase();
    const none = { key, name, entry: {}, secrets: new Map<string, string>(), kept: [], missing: [] };
    if (!isJsonObject(written)) return { ...none, leftOut: "it is no object" };
    const leftOut = taken.get(name) ?? (isOff(written) ? "it is switched off" : undefined);
    if (leftOut !== undefined) return { ...none, leftOut };
    taken.set(name, `another server of the file is called ${name}, too`);
    return { ...none, ...planEntry(key, written, { ...known, nameFor }) };
  });
}

function isOff(written: JsonObject): boolean {
  return written["enabled"] === false || written["disabled"] === true;
}

/** The name of the secret for a value, or for one that somebody has to set. */
type NameFor = (wanted: string, value: string | undefined) => string;

/** Over all servers of the file: no name is used for two values, nor for one that the team has. */
function createSecretNames(there: ReadonlySet<string>): NameFor {
  const given = new Map<string, string | undefined>();
  return (wanted, value) => {
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wanted : `${wanted}_${count}`;
      if (there.has(name) || (given.has(name) && given.get(name) !== value)) continue;
      given.set(name, value);
      return name;
    }
  };
}

/** The name of a secret has at most 100 characters, with the number behind it. */
const longestName = 95;

/** Everything secret of an entry becomes a secret of the team, as do values of variables, which no template reads. */
function planEntry(
  key: string,
  written: JsonObject,
  { secrets: there, env, nameFor }: KnownOfTeam & { readonly nameFor: NameFor },
): Pick<PlannedServer, "entry" | "secrets" | "kept" | "missing"> {
  const secrets = new Map<string, string>();
  const kept = new Set<string>();
  const missing = new Set<string>();
  const claim = (wanted: string, value: string | undefined): string => {
    const name = nameFor(wanted.slice(0, longestName), value);
    if (value === undefined) missing.add(name);
    else secrets.set(name, value);
    return name;
  };
  const entry = withTexts(written) as ImportedEntry;
  const own = toConstant(key);
  const literals = findLiteralSecrets(entry, key).map((secret) => {
    const { variable, value } = secret;
    const wanted = `${variable}_`.startsWith(`${own}_`) ? variable : `${own}_${variable}`;
    return [secret, `secret:${claim(wanted, value)}`] as const;
  });
  const withSecrets = withSecretVariables(entry, new Map(literals));
  const named = replaceReferences(withSecrets, {
    valueOf({ kind, variable, fallback }, path) {
      if (kind === "secret") return undefined;
      // The entry's own variables are known in the template, too. One that names itself means the environment.
      if (Object.hasOwn(withSecrets.env ?? {}, variable) && path.join(".") !== `env.${variable}`)
        return `\${${variable}${fallback === undefined ? "" : `:-${fallback}`}}`;
      // The separator of paths is no variable, and every template has it.
      if (variable === "/") return "${/}";
      if (there.has(variable)) {
        kept.add(variable);
        return `\${secret:${variable}}`;
      }
      const value = env[variable] === "" ? undefined : env[variable];
      return value === undefined && fallback !== undefined ? undefined : `\${secret:${claim(variable, value)}}`;
    },
    onMissing: () => undefined,
  });
  return { entry: named as JsonObject, secrets, kept: [...kept], missing: [...missing] };
}

/** Files of clients have numbers and switches among their variables, and null where there is nothing. */
function withTexts(entry: JsonObject): JsonObject {
  const toText = (part: unknown): unknown =>
    isJsonObject(part) ? mapped(part, (value) => (isScalar(value) ? String(value) : value)) : part;
  const { env, headers, ...others } = mapped(entry, (value) => value);
  return {
    ...others,
    ...(env === undefined ? {} : { env: toText(env) }),
    ...(headers === undefined ? {} : { headers: toText(headers) }),
  };
}

function mapped(members: JsonObject, toValue: (value: unknown) => unknown): JsonObject {
  const given = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, toValue(value)]));
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
