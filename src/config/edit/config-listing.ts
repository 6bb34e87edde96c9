import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { longestMs } from "../../kernel/limits.ts";
import type { Config, ServerConfig } from "../config.ts";
import type { Document, Path } from "../file/document.ts";
import { givenBy, type ConfigFlags } from "../given.ts";
import { placedRows } from "../rows/row-reading.ts";
import type { Facts } from "../rows/setting-row.ts";
import { settingsTable } from "../settings/settings-table.ts";
import { findServers } from "../file/source.ts";
import type { Variables } from "../file/substitution.ts";
import { hasProcess } from "../entry/transports.ts";

/** One value of the configuration in force. */
export interface ListedValue {
  /** `toolyard.limits.sessions`, `servers.github.command`. */
  readonly path: string;
  /** A secret is shown as it was written where that refers to a variable, and hidden otherwise. */
  readonly value: unknown;
  /** `file:line:column`, a flag, a variable, or `default`. */
  readonly origin: string;
}

export interface ListingSource {
  readonly config: Config;
  /** What the configuration was read from; undefined without a file. */
  readonly document: Document | undefined;
  readonly flags: ConfigFlags;
  readonly env: Variables;
  readonly facts: Facts;
}

/** Where values that have no other place come from. */
const byDefault = "default";
/** Instead of a secret. */
export const hiddenValue = "(hidden)";

/** Every setting and every field of every server with its value in force, and where that comes from. */
export function listConfig(source: ListingSource): readonly ListedValue[] {
  return [...listSettings(source), ...listWritten(source), ...listServers(source)];
}

/** Other spellings of settings, beside those of the table. */
const otherPlaces: Readonly<Record<string, readonly Path[]>> = {
  "namespaces.maxLoaded": [["performance", "maxNamespaces"]],
  "namespaces.cacheTtlMs": [["performance", "cacheTimeout"]],
  "namespaces.preload": [["performance", "preloadNamespaces"]],
};

function placesOf(path: Path): readonly Path[] {
  const name = path.join(".");
  const foreign = [...(otherPlaces[name] ?? []), ["namespaceSupport", ...path.slice(1)]];
  const own: readonly Path[] = [["toolyard", ...path]];
  return path[0] === "namespaces" ? [...own, ...foreign, ...foreign.map((place) => ["toolyard", ...place])] : own;
}

function listSettings({ config, document, flags, env, facts }: ListingSource): readonly ListedValue[] {
  return placedRows(settingsTable).flatMap(({ path, row }) => {
    const written = firstWritten(document, placesOf(path));
    const effective = valueAt(config.settings, path);
    // The times of servers are resolved into each server; here they are what servers start from.
    const value = effective ?? written?.value ?? fallbackOf(path, config, () => row.compute?.(facts) ?? row.fallback);
    if (value === undefined) return [];
    const origin = givenBy(row, flags, env) ?? written?.place ?? byDefault;
    return [{ path: ["toolyard", ...path].join("."), value: hideMembers(value, written?.value, path), origin }];
  });
}

/** Groups that are absent unless they are written have no values by default. */
function fallbackOf(path: Path, { settings }: Config, fallback: () => unknown): unknown {
  return path.length === 1 || valueAt(settings, path.slice(0, -1)) !== undefined ? fallback() : undefined;
}

/** Objects whose members the user names: people, teams, clients. They have no defaults. */
function listWritten({ document }: ListingSource): readonly ListedValue[] {
  const names = Object.entries(settingsTable).flatMap(([name, { kind }]) => (kind === "keyed" ? [name] : []));
  return names.flatMap((name) => leaves(document, ["toolyard", name]));
}

function leaves(document: Document | undefined, path: Path): readonly ListedValue[] {
  const value = document?.value(path);
  if (document === undefined || value === undefined) return [];
  if (isJsonObject(value)) return document.keys(path).flatMap((key) => leaves(document, [...path, key]));
  return [{ path: path.join("."), value: hideMembers(value, value, path), origin: document.place(path) }];
}

/** Fields of a server's entry that may be written otherwise. */
const otherFields: Readonly<Record<string, readonly Path[]>> = {
  type: [["transport"]],
  url: [["serverUrl"], ["httpUrl"]],
  enabled: [["disabled"]],
  requestLogging: [["settings"]],
  "tools.allow": [["enabledTools"], ["enabled_tools"], ["includeTools"]],
  "tools.deny": [["disabledTools"], ["disabled_tools"], ["excludeTools"]],
};

function listServers({ config, document }: ListingSource): readonly ListedValue[] {
  const entries = document === undefined ? [] : findServers(document);
  return config.servers.flatMap((server, index) =>
    fieldsOf(server).map(([field, value]) => {
      const name = field.join(".");
      const entry = entries[index]?.path ?? [];
      const own = [field, ...(otherFields[name] ?? []), ...(field[0] === "tools" ? [["tools"]] : [])];
      const places = [...own.map((place) => [...entry, ...place]), ["toolyard", "instances", ...field]];
      const written = firstWritten(document, places) ?? (field[0] === "env" ? envFileOf(document, entry) : undefined);
      return {
        path: `servers.${server.key}.${name}`,
        value: hideMembers(value, written?.value, field),
        origin: written?.place ?? byDefault,
      };
    }),
  );
}

function envFileOf(document: Document | undefined, entry: Path): Written | undefined {
  const found = firstWritten(document, [[...entry, "envFile"]]);
  return found && { value: undefined, place: `${found.place} (envFile)` };
}

/** What a server is in force, field by field, as an entry would say it. */
function fieldsOf(server: ServerConfig): readonly (readonly [readonly string[], unknown])[] {
  const {
    slug: _slug,
    key: _key,
    hash: _hash,
    refill: _refill,
    transport,
    tools,
    required,
    disabledReason,
    ...rest
  } = server;
  const { staysForClients: _stays, idleTimeoutMs, ...others } = rest;
  const members = {
    enabled: disabledReason === undefined,
    ...(disabledReason === undefined ? {} : { disabledReason }),
    ...(hasProcess(transport) ? {} : { type: transport.kind }),
    ...withoutKind(transport),
    ...others,
    idleTimeoutMs: idleTimeoutMs === longestMs ? 0 : idleTimeoutMs,
  };
  const grouped = { tools, required };
  return [...Object.entries(members), ...Object.entries(grouped)]
    .flatMap(([name, value]) => spread([name], value))
    .filter(([, value]) => value !== undefined && !isDeepStrictEqual(value, []) && !isDeepStrictEqual(value, {}));
}

function withoutKind({ kind: _kind, ...transport }: ServerConfig["transport"]): object {
  return "urls" in transport ? { ...transport, url: undefined } : transport;
}

function spread(path: readonly string[], value: unknown): readonly (readonly [readonly string[], unknown])[] {
  if (path.length > 1 || !isJsonObject(value)) return [[path, value]];
  return Object.entries(value).map(([name, member]) => [[...path, name], member] as const);
}

interface Written {
  readonly value: unknown;
  readonly place: string;
}

function firstWritten(document: Document | undefined, places: readonly Path[]): Written | undefined {
  const path = places.find((place) => document?.value(place) !== undefined);
  return document && path && { value: document.value(path), place: document.place(path) };
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((outer, name) => (isJsonObject(outer) ? outer[name] : undefined), value);
}

const secretNames = /^(apiKey|secret|passphrase|database)$/;

/** The value without what its name says is secret. `written` is what the file says in its place. */
export function hideMembers(value: unknown, written: unknown, path: Path): unknown {
  const [group, name] = path.slice(-2);
  const isSecret = group === "env" || group === "headers" || secretNames.test(String(name ?? group));
  if (isSecret) return typeof written === "string" && isReference(written) ? written : hiddenValue;
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      isJsonObject(item)
        ? hideMembers(item, Array.isArray(written) ? (written[index] as unknown) : undefined, [])
        : item,
    );
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, hideMembers(member, valueAt(written, [key]), [...path, key])]),
  );
}

/**
 * Whether the value consists of names of variables only, and how the credential is used. A default might be a secret.
 */
function isReference(text: string): boolean {
  return /^((Bearer|Basic|Token|ApiKey)\s+)?(\$\{((env:)?[A-Za-z_][\w.-]*|input:[^{}:]*)\})+$/i.test(text);
}
