import { resolve } from "node:path";
import { GatewayError } from "../kernel/gateway-error.ts";
import { check, problemAt, refuse, unknownFields, type Origin } from "./check.ts";
import { withWrittenProfiles } from "./client-profiles.ts";
import type { AuthSettings, InstanceSettings, Limits, NamespaceSettings, ServerConfig, Settings } from "./config.ts";
import {
  callLimits,
  defaults,
  instanceNumbers,
  limitNumbers,
  parallelStartsPerCore,
  restartDelaysMs,
  serverTimes,
  settingNumbers,
  type NumberRow,
} from "./defaults.ts";
import type { Document, Path } from "./document.ts";
import type { Given } from "./given.ts";
import { withOverrideTexts } from "./plain-values.ts";
import { createProblems } from "./problems.ts";
import type { ServerDefaults } from "./servers.ts";
import type { ExposureName } from "./exposures.ts";
import { namespaceSupportSchema, performanceSchema, settingsSchema, type WrittenSettings } from "./settings-schema.ts";
import { refuseMisspeltSettings } from "./source.ts";
import { missingText, substitute, type MissingVariable, type Variables } from "./substitution.ts";
import { withoutBrackets } from "./web-names.ts";

/** The settings of a file as they stand there, checked, variables filled in. */
export interface ReadSettings {
  readonly written: WrittenSettings;
  /** Variables missing in the overrides of teams and principals; anywhere else they are errors. Paths start below `toolyard`. */
  readonly missing: readonly MissingVariable[];
  readonly secrets: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Reads `toolyard`, and beside it `namespaceSupport` and `performance`. Throws InvalidConfig with place and path of all
 * that is wrong.
 */
export function readSettings(document: Document, variables: Variables, predefined: Variables = {}): ReadSettings {
  const problems = createProblems();
  const fill = (name: string, isAllowed: (path: Path) => boolean) => {
    const origin: Origin = { document, path: [name] };
    const filled = substitute(writtenAt(origin), variables, predefined);
    for (const missing of filled.missing) {
      if (isAllowed(missing.path)) continue;
      problems.add(problemAt({ document, path: [name, ...missing.path] }, missingText([missing]) ?? ""));
    }
    return { filled, origin };
  };
  problems.attempt(() => refuseMisspeltSettings(document));
  const own = fill("toolyard", isOverride);
  const value = withOverrideTexts(own.filled.value, own.origin);
  const written = problems.attempt(() => check(settingsSchema, value, own.origin));
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

/** Only what is not there may be left out: `null` is a wrong type as anywhere else. */
function writtenAt({ document, path }: Origin): unknown {
  const written = document.value(path);
  return written === undefined ? {} : written;
}

/** `teams.X.servers.Y...` and `principals.X.servers.Y...`: one person's missing value is that person's problem. */
function isOverride(path: readonly (string | number)[]): boolean {
  return (path[0] === "teams" || path[0] === "principals") && path[2] === "servers";
}

export function serverDefaults(written: WrittenSettings): ServerDefaults {
  const times = written.instances ?? {};
  return {
    startTimeoutMs: times.startTimeoutMs,
    ...pickNumbers(serverTimes, times),
    scope: Object.keys(written.principals ?? {}).length > 0 ? "user" : "shared",
  };
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
  readonly cores: number;
}

/** Flag before variable before file before default. */
export function buildSettings(source: SettingsSource): Settings {
  const { given } = source;
  const { written } = source.read;
  const perPrincipal = Object.keys(written.principals ?? {}).length > 0 ? callLimits.shared : callLimits.alone;
  return {
    host: withoutBrackets(given.host ?? written.host ?? defaults.host),
    port: given.port ?? written.port ?? settingNumbers.port.value,
    allowedHosts: written.allowedHosts ?? [],
    allowedOrigins: written.allowedOrigins ?? [],
    publicUrl: given.publicUrl ?? written.publicUrl,
    trustedProxies: written.trustedProxies ?? [],
    ...chooseExposure(source),
    auth: toAuth(source),
    search: {
      engine: written.search?.engine ?? defaults.engine,
      learn: written.search?.learn ?? defaults.learn,
      embeddings: toEmbeddings(written),
    },
    results: {
      discoverTokens: written.results?.discoverTokens ?? settingNumbers.discoverTokens.value,
    },
    instances: toInstances(written, source.cores),
    limits: {
      ...pickNumbers(limitNumbers, written.limits ?? {}),
      ...pickNumbers(perPrincipal, written.limits ?? {}),
    } satisfies Limits,
    namespaces: toNamespaces(written, given),
    clients: withWrittenProfiles(written.clients ?? {}),
    debugRoute: given.debugRoute ?? written.debugRoute ?? false,
    dataDir: toDataDir(source),
    logLevel: given.logLevel ?? written.logLevel ?? defaults.logLevel,
  };
}

/** `transparent` makes `/mcp` one server; an exposure given by flag or variable is stronger. */
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
  const exposure = given.exposure ?? (target ? "server" : (read.written.exposure ?? defaults.exposure));
  if (exposure !== "server") return { exposure, transparent: undefined };
  const only = servers.length === 1 ? servers[0] : undefined;
  const transparent = (target ?? only)?.slug;
  if (transparent === undefined) {
    throw new GatewayError(
      "CONFIG_INVALID",
      "the exposure `server` needs toolyard.transparent: the name of the server that /mcp is to be",
    );
  }
  return { exposure, transparent };
}

function toAuth({ read: { written }, given }: SettingsSource): AuthSettings {
  const auth = written.auth ?? {};
  return {
    tokenHashes: [...(auth.tokenHash === undefined ? [] : [auth.tokenHash]), ...(auth.tokenHashes ?? [])],
    insecure: given.insecure ?? auth.insecure ?? false,
    allowTokenInUrl: auth.allowTokenInUrl ?? false,
  };
}

function toEmbeddings(written: WrittenSettings): Settings["search"]["embeddings"] {
  const embeddings = written.search?.embeddings;
  if (!embeddings) return undefined;
  const { url, model, apiKey, dimensions, deadlineMs } = embeddings;
  return {
    url,
    model,
    apiKey,
    dimensions,
    deadlineMs: deadlineMs ?? settingNumbers.embeddingDeadlineMs.value,
  };
}

function toInstances(written: WrittenSettings, cores: number): InstanceSettings {
  const instances = written.instances ?? {};
  return {
    ...pickNumbers(instanceNumbers, instances),
    parallelStarts: instances.parallelStarts ?? cores * parallelStartsPerCore,
    npxFromFolder: instances.npxFromFolder ?? defaults.npxFromFolder,
    restartDelaysMs: instances.restartDelaysMs ?? restartDelaysMs,
  };
}

/** Our own `namespaces` is stronger than the other spellings, `namespaceSupport` and `performance` (`cacheTimeout` in seconds). */
function toNamespaces(written: WrittenSettings, given: Given): NamespaceSettings {
  const own = written.namespaces ?? {};
  const support = written.namespaceSupport ?? {};
  const { maxNamespaces, cacheTimeout, preloadNamespaces } = written.performance ?? {};
  return {
    enabled: own.enabled ?? support.enabled ?? true,
    maxLoaded: given.maxNamespaces ?? own.maxLoaded ?? maxNamespaces ?? settingNumbers.maxNamespaces.value,
    cacheTtlMs:
      given.cacheTtlMs ??
      own.cacheTtlMs ??
      (cacheTimeout === undefined ? settingNumbers.cacheTtlMs.value : cacheTimeout * 1000),
    preload: given.preload ?? own.preload ?? preloadNamespaces ?? [],
    parallelLoading: given.parallelLoading ?? own.parallelLoading ?? defaults.parallelLoading,
    helpTool: own.helpTool ?? defaults.helpTool,
    legacySupport: own.legacySupport ?? support.legacySupport ?? true,
    deprecationWarnings: own.deprecationWarnings ?? support.deprecationWarnings ?? true,
    autoMigration: own.autoMigration ?? support.autoMigration ?? false,
  };
}

/** A path that was typed starts at the working directory, one in the file at the file. */
function toDataDir({ given, read, cwd, directory, defaultDataDir }: SettingsSource): string {
  if (given.dataDir !== undefined) return resolve(cwd, given.dataDir);
  return read.written.dataDir === undefined ? defaultDataDir : resolve(directory, read.written.dataDir);
}

/** The written number of each row, or the row's default. */
function pickNumbers<Rows extends Readonly<Record<string, NumberRow>>>(
  rows: Rows,
  written: { readonly [Name in keyof Rows]?: number | undefined },
): { readonly [Name in keyof Rows]: number } {
  const pairs = Object.entries(rows).map(([name, row]) => [name, written[name] ?? row.value]);
  return Object.fromEntries(pairs) as { readonly [Name in keyof Rows]: number };
}
