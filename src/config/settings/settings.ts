import { resolve } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { check, problemAt, refuse, unknownFields, type Origin } from "../file/check.ts";
import { withWrittenProfiles } from "../rows/client-profiles.ts";
import type { AuthSettings, ServerConfig, ServerDefaults, Settings } from "../config.ts";
import type { ExposureName } from "../rows/exposures.ts";
import type { Document, Path } from "../file/document.ts";
import { nearestName, suggestion } from "../file/near-miss.ts";
import type { Given } from "../given.ts";
import { withOverrideTexts } from "../rows/plain-values.ts";
import { createProblems } from "../file/problems.ts";
import { breakerRow, instanceRows, serverTimes, startTimeout } from "../rows/instance-rows.ts";
import { rankedRoles } from "../rows/rule-rows.ts";
import { providerProblem, resolveProviders } from "../rows/provider-rows.ts";
import { sandboxRows } from "../rows/sandbox-rows.ts";
import { resolveRows, schemaOf } from "../rows/row-reading.ts";
import type { Facts, Written, Rows } from "../rows/setting-row.ts";
import { foreignNamespaceRows, settingsTable, toolyardRows } from "./settings-table.ts";
import { refuseMisspeltSettings } from "../file/source.ts";
import { missingText, substitute, type MissingVariable, type Variables } from "../file/substitution.ts";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";

export type WrittenSettings = Written<typeof toolyardRows>;

const settingsSchema = schemaOf(toolyardRows);
const namespaceSupportSchema = schemaOf(foreignNamespaceRows.namespaceSupport.rows);
const performanceSchema = schemaOf(foreignNamespaceRows.performance.rows);

/** The settings as a file has them: checked, with variables filled in. */
export interface ReadSettings {
  readonly written: WrittenSettings;
  /**
   * Variables that are missing in the overrides of teams and principals. Anywhere else they are errors. Paths start
   * below `toolyard`.
   */
  readonly missing: readonly MissingVariable[];
  readonly secrets: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Reads `toolyard` and, beside it, `namespaceSupport` and `performance`. Throws InvalidConfig with place and path of
 * every problem.
 */
export function readSettings(document: Document, variables: Variables, predefined: Variables = {}): ReadSettings {
  const problems = createProblems();
  const fill = (name: string, isAllowed: (path: Path) => boolean) => {
    const origin: Origin = { document, path: [name] };
    if (document.hasMoreThan(mostValues, [name]))
      refuse(origin, `more than ${mostValues} values and keys; people in such numbers belong into the team's database`);
    const filled = substitute(writtenAt(origin), { variables, predefined });
    for (const missing of filled.missing) {
      if (isAllowed(missing.path)) continue;
      problems.add(problemAt({ document, path: [name, ...missing.path] }, missingText([missing]) ?? ""));
    }
    return { filled, origin };
  };
  problems.attempt(() => refuseMisspeltSettings(document));
  const own = fill("toolyard", isOverride);
  problems.add(...misspeltSafety(document));
  const value = withOverrideTexts(own.filled.value, own.origin);
  const written = problems.attempt(() => check(settingsSchema, value, own.origin));
  for (const problem of misspeltProfileFields(value, own.origin)) problems.add(problem);
  const support = fill("namespaceSupport", () => false);
  const namespaceSupport = problems.attempt(() => check(namespaceSupportSchema, support.filled.value, support.origin));
  const beside = fill("performance", () => false);
  const performance = problems.attempt(() => check(performanceSchema, beside.filled.value, beside.origin));
  problems.refuseAny();
  return {
    written: {
      ...written,
      namespaceSupport: { ...namespaceSupport, ...written?.namespaceSupport },
      performance: { ...performance, ...written?.performance },
    },
    missing: own.filled.missing,
    secrets: own.filled.secrets,
    warnings: [
      ...unknownFields(settingsSchema, value, own.origin),
      ...unknownFields(namespaceSupportSchema, support.filled.value, support.origin),
      ...unknownFields(performanceSchema, beside.filled.value, beside.origin),
    ],
  };
}

/** Settings are checked and filled in in one turn of the event loop. */
const mostValues = 10_000;

/** Settings that keep calls from running. */
const safetySettings = ["policy", "definitions"] as const;

/**
 * Members that nothing reads, and that were meant for such a setting. A warning in a log would leave open what somebody
 * believes to be closed.
 */
function misspeltSafety(document: Document): readonly string[] {
  const unread = (above: readonly string[], rows: Rows, isMeant: (name: string) => boolean): readonly string[] => {
    const known = Object.keys(rows);
    const names = document.keys(["toolyard", ...above]).filter((name) => !known.includes(name) && isMeant(name));
    const why = "nothing reads this field, and it seems to be meant to keep calls from running";
    return names.map((name) =>
      problemAt({ document, path: ["toolyard", ...above, name] }, `${why}${suggestion(name, known)}`),
    );
  };
  const settings = Object.keys(toolyardRows);
  return [
    ...unread([], toolyardRows, (name) => safetySettings.some((one) => one === nearestName(name, settings))),
    ...safetySettings.flatMap((name) => unread([name], settingsTable[name].rows, () => true)),
  ];
}

/** Throws InvalidConfig for a rule about a role that no one can have. */
function checkRoles({ policy }: Pick<Settings, "policy">, { read, document }: SettingsSource): void {
  const given = Object.values(read.written.principals ?? {}).flatMap(({ roles = [] }) => roles);
  const known: readonly string[] = [...rankedRoles, ...new Set(given)];
  for (const [at, { roles = [] }] of policy.rules.entries())
    for (const [index, role] of roles.entries())
      if (!known.includes(role)) {
        const path = ["toolyard", "policy", "rules", at, "roles", index];
        refuse({ document, path }, `expected one of ${known.join(", ")}`);
      }
}

/** A member may be absent, but `null` is a wrong type here as everywhere else. */
function writtenAt({ document, path }: Origin): unknown {
  const written = document.value(path);
  return written === undefined ? {} : written;
}

/**
 * Whether a path is `teams.X.servers.Y...` or `principals.X.servers.Y...`: a value that one person lacks affects only
 * that person.
 */
function isOverride(path: readonly (string | number)[]): boolean {
  return (path[0] === "teams" || path[0] === "principals") && path[2] === "servers";
}

/** The settings that servers use unless their own entry says otherwise. */
export function serverDefaults(written: WrittenSettings, facts: Facts): ServerDefaults {
  return {
    ...resolveRows({ ...serverTimes, startTimeoutMs: startTimeout, breaker: breakerRow }, [written.instances], facts),
    scope: facts.isShared ? "user" : "shared",
    sandboxMode: written.sandbox?.mode ?? sandboxRows.mode.fallback,
    sandboxEngine: written.sandbox?.engine ?? sandboxRows.engine.fallback,
  };
}

/** Whether there are several people, in which case other limits and scopes are the default. */
export function isShared(written: WrittenSettings): boolean {
  return Object.keys(written.principals ?? {}).length > 0;
}

export interface SettingsSource {
  readonly read: ReadSettings;
  readonly document: Document;
  readonly given: Given;
  readonly servers: readonly ServerConfig[];
  readonly cwd: string;
  /** Directory of the file, where its relative paths start. */
  readonly directory: string;
  readonly defaultDataDir: string;
  readonly facts: Facts;
}

/** Combines the sources: a flag takes precedence over its variable, then come the file and the default. */
export function buildSettings(source: SettingsSource): Settings {
  const { read, given, facts } = source;
  const layers = [given, read.written, fromForeignSpellings(read.written)];
  const { auth, teams: _teams, principals: _principals, ...resolved } = resolveRows(settingsTable, layers, facts);
  const { tokenHash, tokenHashes, providers, ...restOfAuth } = auth;
  checkRoles(resolved, source);
  if (auth.external !== undefined && (!resolved.team || resolved.publicUrl === undefined))
    refuse(
      { document: source.document, path: ["toolyard", "auth", "external"] },
      "expected `team` and `publicUrl` beside it: a token has to name the address that it is for",
    );
  return {
    ...resolved,
    ...chooseExposure(source),
    auth: {
      ...restOfAuth,
      tokenHashes: [...(tokenHash === undefined ? [] : [tokenHash]), ...tokenHashes],
      providers: toProviders(providers, source),
    },
    instances: resolveRows(
      instanceRows,
      layers.map((layer) => layer.instances),
      facts,
    ),
    clients: withWrittenProfiles(resolved.clients),
    dataDir: toDataDir(source),
  };
}

function toProviders(
  written: Parameters<typeof resolveProviders>[0],
  { facts, document }: SettingsSource,
): AuthSettings["providers"] {
  const providers = resolveProviders(written, facts);
  for (const [name, provider] of Object.entries(providers)) {
    const [member, why] = providerProblem(provider) ?? [];
    if (member !== undefined && why !== undefined)
      refuse({ document, path: ["toolyard", "auth", "providers", name, member] }, why);
  }
  return providers;
}

/** `transparent` makes `/mcp` show one server. An exposure given by flag or variable takes precedence. */
function chooseExposure({ read, document, given, servers }: SettingsSource): {
  exposure: ExposureName;
  transparent: string | undefined;
} {
  const named = read.written.transparent;
  const target = named === undefined ? undefined : servers.find(({ key, slug }) => key === named || slug === named);
  if (named !== undefined && !target) {
    refuse({ document, path: ["toolyard", "transparent"] }, "expected the name of one of the servers in this file");
  }
  if (target && read.written.exposure !== undefined && read.written.exposure !== "server") {
    refuse(
      { document, path: ["toolyard", "exposure"] },
      'expected "server", because `transparent` names one; or leave one of them out',
    );
  }
  const exposure = given.exposure ?? (target ? "server" : (read.written.exposure ?? settingsTable.exposure.fallback));
  if (exposure !== "server") return { exposure, transparent: undefined };
  const only = servers.length === 1 ? servers[0] : undefined;
  const transparent = (target ?? only)?.slug;
  if (transparent === undefined) {
    throw new GatewayError(
      "CONFIG_INVALID",
      "the exposure `server` needs toolyard.transparent: the name of the server that /mcp is to show",
    );
  }
  return { exposure, transparent };
}

/** `namespaceSupport` and `performance` in the form of `namespaces`, which takes precedence over them. */
function fromForeignSpellings({ namespaceSupport, performance }: WrittenSettings): Written<typeof settingsTable> {
  const { maxNamespaces, cacheTimeout, preloadNamespaces } = performance ?? {};
  return {
    namespaces: {
      ...namespaceSupport,
      maxLoaded: maxNamespaces,
      cacheTtlMs: cacheTimeout === undefined ? undefined : cacheTimeout * 1_000,
      preload: preloadNamespaces,
    },
  };
}

/** A path from the command line is relative to the working directory, one in the file to the file's folder. */
function toDataDir({ given, read, cwd, directory, defaultDataDir }: SettingsSource): string {
  if (given.dataDir !== undefined) return resolve(cwd, given.dataDir);
  return read.written.dataDir === undefined ? defaultDataDir : resolve(directory, read.written.dataDir);
}

/** The settings that differ and take effect at the next start only, as paths below `toolyard`: `limits.sessions`. */
export function changedForNextStart(before: Settings, after: Settings): readonly string[] {
  return changedRows(settingsTable, before, after, "");
}

function changedRows(rows: Rows, before: unknown, after: unknown, above: string): readonly string[] {
  return Object.entries(rows).flatMap(([name, member]) => {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    if (member.kind === "group") return changedRows(member.rows, old, now, `${above}${name}.`);
    // Objects whose members the user names (people, clients) are read again whenever the file is.
    if (member.kind === "keyed" || member.isReadAtStart !== true) return [];
    return isDeepStrictEqual(old, now) ? [] : [`${above}${name}`];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

/**
 * Servers of profiles that are not in the file. They may come from elsewhere, or later, so that no profile is refused
 * for them.
 */
export function unknownProfileServers(
  { profiles, team }: Pick<Settings, "profiles" | "team">,
  document: Document,
  servers: readonly Pick<ServerConfig, "slug">[],
): readonly string[] {
  if (team) return [];
  const known = servers.map(({ slug }) => slug as string);
  return Object.entries(profiles).flatMap(([name, { servers: named = [] }]) =>
    named.flatMap((server, at) => {
      if (server.includes("*") || known.includes(server)) return [];
      const origin = { document, path: ["toolyard", "profiles", name, "servers", at] };
      return [problemAt(origin, `there is no server ${JSON.stringify(server)} now${suggestion(server, known)}`)];
    }),
  );
}

/**
 * Rules that wait for the yes of somebody else, on a gateway of one person: they refuse. They may be meant
 * for later, or for a start with `--team`, so that no file is refused for them.
 */
export function rulesWithoutApprover(
  { policy, team }: Pick<Settings, "policy" | "team">,
  document: Document,
  people: number,
): readonly string[] {
  if (team || people > 0) return [];
  return policy.rules.flatMap(({ approver = "self" }, at) => {
    if (approver === "self") return [];
    const origin = { document, path: ["toolyard", "policy", "rules", at, "approver"] };
    const why = "without `team` or `principals` there is one person, and a call waits for the yes of another one";
    return [problemAt(origin, `${why}: the rule refuses what it is about`)];
  });
}

/** Fields of profiles that are not known. One that is ignored would leave in what it was to leave out. */
function misspeltProfileFields(value: unknown, { document, path }: Origin): readonly string[] {
  const profiles = isJsonObject(value) && isJsonObject(value["profiles"]) ? value["profiles"] : {};
  const known = Object.keys(settingsTable.profiles.rows);
  return Object.entries(profiles).flatMap(([name, rules]) =>
    Object.keys(isJsonObject(rules) ? rules : {})
      .filter((field) => !known.includes(field))
      .map((field) => {
        const origin = { document, path: [...path, "profiles", name, field] };
        return problemAt(origin, `unknown field${suggestion(field, known)}`);
      }),
  );
}
