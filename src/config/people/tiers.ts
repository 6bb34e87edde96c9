import { type ServerConfig, type ServerOverrides, type Transport, deepFreeze } from "../config.ts";
import { hashTransport } from "../file/hash.ts";
import { findForeignFlag } from "./locked-flags.ts";
import { allowOverrides } from "./member-rules.ts";
import { mergeLevels, refillLevels } from "./personal.ts";
import { nameOf, partOf, pathKey, problemOfValue, type Tier, type TierField, type TierValues } from "./tier-fields.ts";
import { hasProcess, withAddresses } from "../entry/transports.ts";

/** A server of a team, before it runs for somebody. */
export interface TieredServer {
  /** The template's server. Its texts, and those of the team, may name secrets of the team: `${secret:NAME}`. */
  readonly server: ServerConfig;
  readonly fields: readonly TierField[];
  /** Paths that the team keeps to itself. */
  readonly locks: readonly string[];
}

export interface TierInput {
  readonly team: TierValues;
  /** Undefined where one process serves the whole team. */
  readonly user: TierValues | undefined;
  /** A secret of the team by its name; undefined when there is none. */
  readonly secret: (name: string) => string | undefined;
}

export interface MergedServer {
  readonly server: ServerConfig;
  /** The missing values, and who has to give them. Nothing starts while there is any. */
  readonly missing: readonly MissingValue[];
  /** Paths of values that were left out, because their tier may not give them or the field does not take them. */
  readonly ignored: readonly string[];
}

export interface MissingValue {
  /** Of a field, or `secret:NAME`. */
  readonly path: string;
  readonly tier: Tier;
}

/**
 * Merges template, team and user into the server that runs, with a hash of its own. A value of a later tier takes the
 * place of an earlier one; lists of arguments are appended. Below the template, {@link allowOverrides} has the last
 * word. A required value of the tier `user` has to come from the user, so that no person works with another's secret by
 * mistake. Only texts of the template and the team are searched for names of secrets: otherwise a member could have one
 * sent to where it can be read. Pure; never throws.
 */
export function mergeTiers(tiered: TieredServer, input: TierInput): MergedServer {
  const { server, fields } = tiered;
  const ignored: string[] = [];
  const secrets = createSecretNames(input.secret);
  const templateValues = Object.fromEntries(
    fields.flatMap(({ path, default: value }) => (value === undefined ? [] : [[path, value] as const])),
  );
  const team = permitted(tiered, "team", input.team, { ignored, fill: secrets.fill });
  const user = input.user === undefined ? {} : permitted(tiered, "user", input.user, { ignored, fill: (text) => text });
  const levels = [
    toOverrides(fields, mapValues(templateValues, secrets.fill)),
    checked(server.transport, toOverrides(fields, mapValues(team, secrets.fill)), ignored),
    checked(server.transport, toOverrides(fields, user), ignored),
  ];
  const { transport: refilled, missing: unfilled } = refillLevels(server, levels, (name) =>
    name.startsWith("secret:") ? secrets.fill(`\${${name}}`) : undefined,
  );
  const base = refilled ?? mapTexts(server.transport, secrets.fill);
  const transport = withNamedArgs(base, tiered, [templateValues, team, user], { secrets, levels, ignored });
  const missing = missingOf(tiered, { templateValues, team, user, isShared: input.user === undefined });
  return deepFreeze({
    server: { ...server, transport, hash: hashTransport(transport, server.roots) },
    missing: [
      ...missing,
      ...unfilled
        .filter((path) => !missing.some((known) => known.path === path))
        .map((path) => unfilledOf(tiered, path)),
      ...secrets.unknown().map((name): MissingValue => ({ path: `secret:${name}`, tier: "team" })),
    ],
    ignored: [...new Set(ignored)],
  });
}

/** Whether a tier may give this value, as template and team have it now. */
export function mayGive({ fields, locks }: Omit<TieredServer, "server">, tier: Tier, path: string): boolean {
  const key = pathKey(path);
  if (tier === "user" && locks.some((lock) => pathKey(lock) === key)) return false;
  const field = fields.find((known) => pathKey(known.path) === key);
  if (field === undefined) return false;
  return !field.locked && (tier === "team" ? field.tier !== "template" : field.tier === "user");
}

/**
 * The path of a field that is not this tier's to give and that a value of `path` would set all the same, as an argument
 * with its flag. Undefined where there is none.
 */
export function foreignPathIn(
  tiered: Omit<TieredServer, "server">,
  tier: Tier,
  [path, value]: readonly [path: string, value: string | readonly string[]],
): string | undefined {
  if (partOf(path) !== "args") return undefined;
  const words = typeof value === "string" ? [value] : value;
  return findForeignFlag(tiered.fields, words, (known) => mayGive(tiered, tier, known));
}

interface Permitting {
  readonly ignored: string[];
  /** Puts in the secrets that the tier may name: one of them may hold an argument. */
  readonly fill: (text: string) => string;
}

/** The values that this tier may give and the fields take. Notes the others. */
function permitted(tiered: TieredServer, tier: Tier, values: TierValues, { ignored, fill }: Permitting): TierValues {
  const setsForeign = (path: string, value: string | readonly string[]): boolean =>
    partOf(path) === "args" &&
    foreignPathIn(tiered, tier, [path, typeof value === "string" ? fill(value) : value.map(fill)]) !== undefined;
  const kept = Object.entries(values).filter(([path, value]) => {
    const field = tiered.fields.find((known) => pathKey(known.path) === pathKey(path));
    const isFit = field === undefined || problemOfValue(field, value, tier) === undefined;
    if (isFit && mayGive(tiered, tier, path) && !setsForeign(path, value)) return true;
    ignored.push(path);
    return false;
  });
  return Object.fromEntries(kept);
}

interface Overrides extends ServerOverrides {
  readonly query: Readonly<Record<string, string>>;
}

/** Without `args.NAME`, whose place is with those of the other tiers. */
function toOverrides(fields: readonly TierField[], values: TierValues): Overrides {
  const part = (wanted: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([path, value]) =>
        partOf(path) === wanted && typeof value === "string" ? [[spelled(fields, path), value] as const] : [],
      ),
    );
  const { args } = values;
  return {
    env: part("env"),
    headers: part("headers"),
    query: part("query"),
    ...(typeof args === "object" ? { args } : {}),
  };
}

/** A header's name as the template writes it. */
function spelled(fields: readonly TierField[], path: string): string {
  return nameOf(fields.find((field) => pathKey(field.path) === pathKey(path))?.path ?? path);
}

function checked(template: Transport, overrides: Overrides, ignored: string[]): Overrides {
  const { args, env, headers, ignored: refused } = allowOverrides(template, overrides);
  ignored.push(...refused);
  return { args, env, headers, query: overrides.query };
}

interface Levels {
  readonly secrets: SecretNames;
  readonly levels: readonly Overrides[];
  readonly ignored: string[];
}

/** The transport with all levels; named arguments stand between the template's and those that tiers append. */
function withNamedArgs(
  base: Transport,
  { server, fields }: TieredServer,
  tierValues: readonly [TierValues, TierValues, TierValues],
  { secrets, levels, ignored }: Levels,
): Transport {
  const named = fields.filter(({ path }) => path.startsWith("args."));
  if (!hasProcess(base) || named.length === 0) return withQuery(mergeLevels(base, levels), levels);
  const words = named.flatMap((field) => {
    const at = tierValues.findLastIndex((values) => typeof values[field.path] === "string");
    const value = tierValues[at]?.[field.path];
    if (typeof value !== "string") return [];
    const given = toWords(field, at === 2 ? value : secrets.fill(value));
    if (at === 0 || allowOverrides(server.transport, { args: given }).ignored.length === 0) return given;
    ignored.push(field.path);
    return [];
  });
  return mergeLevels({ ...base, args: [...base.args, ...words] }, levels);
}

function toWords({ flag, type }: TierField, value: string): readonly string[] {
  if (type === "boolean") return value === "true" && flag !== undefined ? [flag] : [];
  return flag === undefined ? [value] : [flag, value];
}

function withQuery(transport: Transport, levels: readonly Overrides[]): Transport {
  const parameters = levels.flatMap(({ query }) => Object.entries(query));
  if (hasProcess(transport) || parameters.length === 0) return transport;
  return withAddresses(transport, (address) => {
    if (!URL.canParse(address)) return address;
    const url = new URL(address);
    for (const [name, value] of parameters) url.searchParams.set(name, value);
    return url.href;
  });
}

interface Given {
  readonly templateValues: TierValues;
  readonly team: TierValues;
  readonly user: TierValues;
  readonly isShared: boolean;
}

function missingOf(tiered: TieredServer, { templateValues, team, user, isShared }: Given): readonly MissingValue[] {
  const has = (values: TierValues, path: string): boolean =>
    Object.entries(values).some(([known, value]) => pathKey(known) === pathKey(path) && value !== "");
  return tiered.fields.flatMap((field): MissingValue[] => {
    const { path, tier } = field;
    if (!field.required || has(templateValues, path) || has(user, path)) return [];
    const isPersonal = tier === "user" && !isShared && mayGive(tiered, "user", path);
    if (isPersonal) return [{ path, tier: "user" }];
    if (has(team, path)) return [];
    return [{ path, tier: tier === "template" || field.locked ? "template" : "team" }];
  });
}

/** A variable that an argument refers to: without it, the argument would have the name of the variable in it. */
function unfilledOf({ fields }: TieredServer, path: string): MissingValue {
  return { path, tier: fields.find((field) => field.path === path)?.tier ?? "template" };
}

interface SecretNames {
  fill(text: string): string;
  /** Names that stand for nothing. */
  unknown(): readonly string[];
}

const reference = /\$\{secret:([A-Za-z0-9][A-Za-z0-9._-]{0,99})\}/g;

function createSecretNames(secret: TierInput["secret"]): SecretNames {
  const unknown = new Set<string>();
  return {
    fill: (text) =>
      text.replace(reference, (_whole, name: string) => {
        const value = secret(name);
        if (value === undefined) unknown.add(name);
        return value ?? "";
      }),
    unknown: () => [...unknown],
  };
}

function mapTexts(transport: Transport, map: (text: string) => string): Transport {
  const inRecord = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([name, text]) => [name, map(text)]));
  if (hasProcess(transport)) return { ...transport, args: transport.args.map(map), env: inRecord(transport.env) };
  // In an address, a secret is one value, whatever characters it has.
  const filled = withAddresses(transport, (address) =>
    address.replace(reference, (whole) => encodeURIComponent(map(whole))),
  );
  return { ...filled, headers: inRecord(transport.headers) };
}

function mapValues(values: TierValues, map: (text: string) => string): TierValues {
  return Object.fromEntries(
    Object.entries(values).map(([path, value]) => [path, typeof value === "string" ? map(value) : value.map(map)]),
  );
}
