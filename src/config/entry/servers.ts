import { longestMs } from "../../kernel/limits.ts";
import { allSteps } from "../../kernel/runtime/slices.ts";
import { isAbsolute, resolve } from "node:path";
import { toRootUri } from "../words/web-names.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import {
  type ServerConfig,
  type ServerDefaults,
  type TlsFiles,
  type ToolRules,
  type Transport,
  deepFreeze,
} from "../config.ts";
import type { Document } from "../file/document.ts";
import type { Refill } from "./entry-variables.ts";
import { hashTransport } from "../file/hash.ts";
import { isKnownStateful, isKnownToKeepFiles } from "./stateful-servers.ts";
import { readEntry, type EntrySource } from "./read-entry.ts";
import { resolveRows } from "../rows/row-reading.ts";
import { toSandboxRules } from "./sandbox-entry.ts";
import type { ServerEntry } from "./server-entry.ts";
import { plainFields } from "./server-fields.ts";
import type { Facts } from "../rows/setting-row.ts";
import { lookAlikeForm, toNamespace, toSlug, withKeyHash } from "../words/slug.ts";
import { switchedOffIn, type ServerPlace } from "../file/source.ts";
import { hasProcess } from "./transports.ts";

/** The reason of a server that somebody has switched off, and that could be used otherwise. */
export const switchedOff = "disabled in the configuration";

export interface ServerSource extends EntrySource {
  readonly document: Document;
  readonly inherited: ServerDefaults;
  readonly facts: Facts;
}

export interface BuiltServers {
  readonly servers: readonly ServerConfig[];
  readonly warnings: readonly string[];
  /** What was read otherwise than it is written, and works. */
  readonly notes: readonly string[];
  readonly secrets: ReadonlySet<string>;
  /** Problems in single entries, reported along with whatever makes the whole file unusable. */
  readonly problems: readonly string[];
  /** Absolute paths of the files that `envFile` names. */
  readonly envFiles: readonly string[];
}

/**
 * The servers of a file, in its order. A server that cannot be used (its entry is wrong, a variable is missing, its
 * name is taken) is kept as disabled with that reason, so that the others run.
 */
export function buildServers(places: readonly ServerPlace[], source: ServerSource): BuiltServers {
  return allSteps(buildingServers(places, source));
}

/** The same in steps of one server each. */
export function* buildingServers(
  places: readonly ServerPlace[],
  source: ServerSource,
): Generator<undefined, BuiltServers> {
  const { document } = source;
  const warnings: string[] = [];
  const notes: string[] = [];
  const secrets = new Set<string>();
  const names = createNames();
  const problems: string[] = [];
  const envFiles = new Set<string>();
  const isSwitchedOff = switchedOffIn(document);
  const servers: ServerConfig[] = [];
  for (const place of places) {
    yield;
    const read = readEntry({ document, path: place.path }, source);
    for (const [list, more] of [
      [warnings, read.warnings],
      [notes, read.notes],
      [problems, read.wrong],
    ] as const)
      for (const text of more) list.push(text);
    for (const secret of read.secrets) secrets.add(secret);
    if (read.envFile !== undefined) envFiles.add(read.envFile);
    const { slug, clash } = names.claim(place.key);
    const problem = clash ?? read.problem;
    const isOn = read.entry.enabled && !isSwitchedOff(place.key);
    if (problem !== undefined && isOn)
      warnings.push(`${document.place(place.path)}: server ${JSON.stringify(place.key)} is disabled: ${problem}`);
    const disabledReason = isOn ? problem : switchedOff;
    servers.push(deepFreeze(toServer(place.key, slug, read.entry, { source, disabledReason, refill: read.refill })));
  }
  return { servers, warnings, notes, secrets, problems, envFiles: [...envFiles] };
}

/** Slugs must differ by more than what people overlook (fault 54). Of two similar ones the first keeps its name. */
function createNames() {
  const keyBySlug = new Map<string, string>();
  const keyByForm = new Map<string, string>();
  return {
    claim(key: string): { readonly slug: ServerSlug; readonly clash: string | undefined } {
      const slug = toSlug(key);
      const folded = slug.toLowerCase();
      const form = lookAlikeForm(key);
      const earlier = keyBySlug.get(folded) ?? keyByForm.get(form);
      if (earlier !== undefined) {
        const name = JSON.stringify(earlier);
        const clash = `its name cannot be told apart from that of ${name}, which comes first; rename one`;
        return { slug: withKeyHash(slug, `${key}\0${keyByForm.size}\0${keyBySlug.size}`), clash };
      }
      keyBySlug.set(folded, key);
      keyByForm.set(form, key);
      return { slug, clash: undefined };
    },
  };
}

interface Finishing {
  readonly source: ServerSource;
  readonly disabledReason: string | undefined;
  readonly refill: Refill | undefined;
}

function toServer(
  key: string,
  slug: ServerSlug,
  entry: ServerEntry,
  { source, disabledReason, refill }: Finishing,
): ServerConfig {
  const { inherited } = source;
  const roots = entry.roots && toRoots(entry.roots, source);
  const transport = withSandbox(toTransport(entry.transport, source.directory), entry, { source, roots });
  const required = { user: entry.required?.user ?? [], team: entry.required?.team ?? [] };
  const optional = { user: entry.optional?.user ?? [], team: entry.optional?.team ?? [] };
  const isPersonal = [required, optional].some(({ user, team }) => user.length > 0 || team.length > 0);
  const stateful = entry.stateful ?? isKnownStateful(transport);
  const callTimeoutMs = entry.callTimeoutMs ?? inherited.callTimeoutMs;
  return {
    slug,
    key,
    displayName: entry.displayName ?? key,
    transport,
    disabledReason,
    namespace: entry.namespace ?? toNamespace(slug),
    scope: entry.scope ?? (isPersonal ? "user" : inherited.scope),
    roots,
    startTimeoutMs: entry.startTimeoutMs ?? inherited.startTimeoutMs,
    discoveryTimeoutMs: entry.discoveryTimeoutMs ?? inherited.discoveryTimeoutMs,
    callTimeoutMs,
    maxCallTimeoutMs: Math.max(callTimeoutMs, entry.maxCallTimeoutMs ?? inherited.maxCallTimeoutMs),
    ...toIdleRules(entry, stateful, inherited),
    ...resolveRows(plainFields, [entry], source.facts),
    files: entry.files ?? (isKnownToKeepFiles(transport) ? "node" : undefined),
    requestLogging: toRequestLogging(entry),
    breaker: entry.breaker ?? (inherited.breaker || isSeveral(entry)),
    tools: toToolRules(entry),
    required,
    optional,
    hash: hashTransport(transport, roots),
    ...(refill !== undefined && hasProcess(transport) ? { refill } : {}),
  };
}

/** Whether its calls are divided among several processes, or several connections. */
function isSeveral({ replicas = 1, transport }: ServerEntry): boolean {
  return replicas > 1 || (!hasProcess(transport) && (transport.urls?.length ?? 0) > 1);
}

/** Our own field goes before the other spelling. */
function toRequestLogging({ requestLogging, settings }: ServerEntry): ServerConfig["requestLogging"] {
  return requestLogging ?? (settings?.request_logging_enabled === false ? "off" : "metadata");
}

/**
 * An idle time in the entry is obeyed. Otherwise a server that holds state gets a longer time than the others, never
 * a shorter one.
 */
function toIdleRules(
  entry: ServerEntry,
  stateful: boolean,
  inherited: ServerDefaults,
): Pick<ServerConfig, "idleTimeoutMs" | "stateful" | "staysForClients"> {
  const common = neverForZero(entry.idleTimeoutMs ?? inherited.idleTimeoutMs);
  if (!stateful || entry.idleTimeoutMs !== undefined)
    return { stateful, idleTimeoutMs: common, staysForClients: false };
  return {
    stateful,
    idleTimeoutMs: Math.max(common, neverForZero(inherited.statefulIdleTimeoutMs)),
    staysForClients: true,
  };
}

/** In the file, 0 means "never stop it". Internally, never is the longest time that a timer can wait. */
function neverForZero(idleTimeoutMs: number): number {
  return idleTimeoutMs === 0 ? longestMs : idleTimeoutMs;
}

/** A tool that other clients' fields switch off is off, whatever our fields say, and the other way round. */
function toToolRules(entry: ServerEntry): ToolRules {
  const own = isList(entry.tools) ? { allow: entry.tools } : (entry.tools ?? {});
  const { enabledTools, enabled_tools: codexTools, includeTools } = entry;
  const within = [enabledTools, codexTools, includeTools].filter((list) => list !== undefined);
  return {
    allow: own.allow,
    ...(within.length > 0 ? { within } : {}),
    deny: [
      ...(own.deny ?? []),
      ...(entry.disabledTools ?? []),
      ...(entry.disabled_tools ?? []),
      ...(entry.excludeTools ?? []),
    ],
    rename: own.rename ?? {},
    describe: own.describe ?? {},
    phrases: own.phrases ?? {},
    ask: own.ask ?? [],
    neverAsk: own.neverAsk ?? [],
    effects: own.effects ?? {},
  };
}

/** `Array.isArray` does not narrow read-only arrays. */
function isList(tools: ServerEntry["tools"]): tools is readonly string[] {
  return Array.isArray(tools);
}

function withSandbox(
  transport: Transport,
  { sandbox }: ServerEntry,
  { source, roots = [] }: { readonly source: ServerSource; readonly roots: readonly string[] | undefined },
): Transport {
  if (!hasProcess(transport)) return transport;
  const { directory, inherited } = source;
  const { sandboxMode: mode, sandboxEngine: engine } = inherited;
  const rules = toSandboxRules(sandbox, { directory, home: () => homeOf(source), mode, engine, roots });
  return rules === undefined ? transport : { ...transport, sandbox: rules };
}

function homeOf({ variables }: ServerSource): string | undefined {
  return variables["HOME"] ?? variables["USERPROFILE"];
}

/** The roots as `file:` URIs. Relative paths start at the file's folder. */
function toRoots(roots: readonly string[], source: ServerSource): readonly string[] {
  const places = { directory: source.directory, home: homeOf(source) };
  return roots.flatMap((root) => toRootUri(root, places) ?? []);
}

function withAbsolutePaths(tls: TlsFiles, directory: string): TlsFiles {
  const entries = Object.entries(tls) as [keyof TlsFiles, string][];
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "passphrase" ? value : resolve(directory, value)]),
  );
}

/**
 * Relative paths start at the file: the process runs in the folder of the file unless `cwd` says otherwise, so that
 * relative arguments mean what they say. Arguments themselves are never changed. A bare command is looked up in PATH.
 */
function toTransport(transport: ServerEntry["transport"], directory: string): Transport {
  if (!hasProcess(transport))
    return {
      kind: transport.kind,
      url: transport.url,
      ...(transport.urls === undefined ? {} : { urls: [...transport.urls] }),
      headers: { ...transport.headers },
      ...(transport.proxy === undefined ? {} : { proxy: transport.proxy }),
      ...(transport.tls === undefined ? {} : { tls: withAbsolutePaths(transport.tls, directory) }),
    };
  const { command } = transport;
  const isRelativePath = !isAbsolute(command) && /[/\\]/.test(command);
  return {
    kind: transport.kind,
    command: isRelativePath ? resolve(directory, command) : command,
    args: [...transport.args],
    env: { ...transport.env },
    cwd: resolve(directory, transport.cwd ?? "."),
  };
}
