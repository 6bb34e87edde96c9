import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import {
  noteReads,
  mostNesting,
  substitute,
  type MissingVariable,
  type Substituted,
  type Variables,
} from "../file/substitution.ts";

type Texts = Readonly<Record<string, string>>;

/** Where the variables of one server's entry come from, the strongest first. */
export interface EntryVariables {
  /** Values that stand for themselves, whatever is in them: what people and teams give, and their secrets. */
  readonly literal?: (name: string) => string | undefined;
  /** The variables of the entry's `envFile`. They are weaker than those under its `env`. */
  readonly fromFile?: Texts;
  /** The gateway's environment. */
  readonly variables: Variables;
  readonly predefined: Variables;
  /** Names that people or teams may give a value later. One of them that has none yet is not missing. */
  readonly later?: ReadonlySet<string>;
}

/** What it takes to fill in an entry's `args` and `env` again, once people have given their own values. */
export interface Refill {
  readonly args: unknown;
  readonly env: unknown;
  readonly fromFile: Texts;
  /** Those that the entry refers to, and no others. */
  readonly variables: Variables;
  readonly predefined: Variables;
}

export interface FilledEntry extends Substituted {
  /** Undefined where nothing refers to a variable that people could give. */
  readonly refill: Refill | undefined;
  /** Whether anything of its `envFile` is in its texts. */
  readonly usesFile: boolean;
}

/**
 * The most characters that an entry's own variables may fill in. An argument and a variable have at most 128 KiB on
 * Linux. Without a limit, `A: "${B}${B}"`, `B: "${C}${C}"` and so on would double a text with each line.
 */
const mostFilled = 1_048_576;

/**
 * An entry with its variables filled in: `${NAME}` is the entry's own `env`, then its `envFile`, then the gateway's
 * environment, in every text of it. A value under `env` may refer to others. One that refers to itself, directly or
 * through others, means the next source: in `PATH: "/opt/bin:${PATH}"`, the gateway's PATH. Values that come from the
 * entry itself are not among `secrets`.
 *
 * Chains of more than 16 variables, and texts beyond 1 MiB in all, end in variables that count as missing.
 */
export function fillEntry(written: unknown, source: EntryVariables): FilledEntry {
  const { literal, fromFile = {}, later = new Set<string>() } = source;
  const entry = isJsonObject(written) ? written : {};
  const env = isJsonObject(entry["env"]) ? entry["env"] : {};
  const noted = noteReads(source.variables);
  const predefined = noteReads(source.predefined);
  const missing: MissingVariable[] = [];
  const secrets = new Set<string>();
  const filled = new Map<string, string>();
  const open = new Set<string>();
  let room = mostFilled;
  let isOwn = false;
  let usesFile = false;

  function fill(value: unknown, above: readonly string[]): unknown {
    const found = substitute(value, { variables: noted.variables, predefined: predefined.variables, own });
    for (const { path, name } of found.missing) missing.push({ path: [...above, ...path], name });
    for (const secret of found.secrets) secrets.add(secret);
    return found.value;
  }

  function own(name: string): string | undefined {
    const stronger = literal?.(name) ?? ofEnv(name);
    const value = stronger ?? ownText(fromFile, name);
    usesFile ||= stronger === undefined && value !== undefined;
    isOwn ||= value !== undefined || later.has(name);
    room -= value === undefined ? 0 : value.length + 1;
    return room < 0 ? undefined : value;
  }

  function ofEnv(name: string): string | undefined {
    const text = ownText(env, name);
    if (text === undefined || open.has(name)) return undefined;
    const known = filled.get(name);
    if (known !== undefined || open.size >= mostNesting) return known;
    open.add(name);
    const value = String(fill(text, ["env", name]));
    open.delete(name);
    filled.set(name, value);
    return value;
  }

  const value = fill(isJsonObject(entry["env"]) ? { ...entry, env: null } : written, []);
  if (isJsonObject(value) && isJsonObject(entry["env"])) Object.assign(value, { env: filledEnv(env, ofEnv) });
  const isLater = ({ path: [part], name }: MissingVariable): boolean =>
    later.has(name) && (part === "args" || part === "env");
  const refill = { args: entry["args"], env, fromFile, variables: noted.read(), predefined: predefined.read() };
  return {
    value,
    missing: missing.filter((each) => !isLater(each)),
    secrets,
    usesFile,
    refill: isOwn ? { ...refill, variables: set(refill.variables), predefined: set(refill.predefined) } : undefined,
  };
}

/** Only texts are filled in: the check of the entry tells of everything else. */
function filledEnv(env: JsonObject, ofEnv: (name: string) => string | undefined): JsonObject {
  const filled = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(env)) filled[name] = typeof value === "string" ? ofEnv(name) : value;
  return filled;
}

function ownText(values: object, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? (values as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function set(values: Readonly<Record<string, string | null>>): Variables {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Variables;
}

/** What an entry's `args` and `env` become with values that people gave, and the variables that are missing then. */
export interface Refilled {
  readonly args: readonly string[];
  readonly env: Texts;
  readonly missing: readonly string[];
}

/** Fills in an entry's arguments and variables again, with values that stand for themselves and come first. Pure. */
export function refillEntry(
  { args, env, fromFile, variables, predefined }: Refill,
  literal: (name: string) => string | undefined,
): Refilled {
  const { value, missing } = fillEntry({ args, env }, { literal, fromFile, variables, predefined });
  const filled = value as { readonly args?: readonly string[]; readonly env: Texts };
  return {
    args: filled.args ?? [],
    env: { ...fromFile, ...filled.env },
    missing: [...new Set(missing.map(({ name }) => name))],
  };
}
