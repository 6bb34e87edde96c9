import { isAbsolute, resolve } from "node:path";
import { GatewayError } from "../shared/gateway-error.ts";
import type { ServerSlug } from "../shared/ids.ts";
import { refuse, type Origin } from "./check.ts";
import type { ServerConfig, ToolRules, Transport } from "./config.ts";
import { defaults, longestMs } from "./defaults.ts";
import { hashTransport } from "./hash.ts";
import { isKnownStateful } from "./known-state.ts";
import { parseServerEntry, type ServerEntry } from "./server-entry.ts";
import { lookAlikeForm, toNamespace, toSlug, withKeyHash } from "./slug.ts";
import type { ServerPlace } from "./source.ts";
import { substitute, type Substituted, type Variables } from "./substitution.ts";
import type { Document } from "./document.ts";

/** What a server takes from the settings unless its entry says otherwise. */
export interface ServerDefaults {
  readonly startTimeoutMs: number | undefined;
  readonly discoveryTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly statefulIdleTimeoutMs: number;
  readonly scope: "shared" | "user";
}

export interface ServerSource {
  readonly document: Document;
  /** Directory of the file: relative paths start here. */
  readonly directory: string;
  readonly variables: Variables;
  readonly inherited: ServerDefaults;
}

export interface BuiltServers {
  readonly servers: readonly ServerConfig[];
  readonly warnings: readonly string[];
  readonly secrets: ReadonlySet<string>;
}

/**
 * The servers of a file in its order. A server that cannot be used for a reason of its own (a missing variable, a name that is
 * taken) is kept, disabled, with that reason; an entry that is wrong in itself throws GatewayError CONFIG_INVALID.
 */
export function buildServers(places: readonly ServerPlace[], source: ServerSource): BuiltServers {
  const warnings: string[] = [];
  const secrets = new Set<string>();
  const names = createNames();
  const servers = places.map((place) => {
    const origin: Origin = { document: source.document, path: place.path };
    const read = readEntry(origin, source.variables, warnings);
    for (const secret of read.secrets) secrets.add(secret);
    const { slug, clash } = names.claim(place.key);
    const problem = clash ?? read.problem;
    if (problem !== undefined && read.entry.enabled)
      warnings.push(
        `${source.document.place(place.path)}: server ${JSON.stringify(place.key)} is disabled: ${problem}`,
      );
    return toServer(place.key, slug, read.entry, {
      source,
      disabledReason: read.entry.enabled ? problem : "disabled in the configuration",
    });
  });
  return { servers, warnings, secrets };
}

interface ReadEntry {
  readonly entry: ServerEntry;
  readonly problem: string | undefined;
  readonly secrets: ReadonlySet<string>;
}

/** A value that a variable brought in may be wrong without the file being wrong: then only this server is disabled. */
function readEntry(origin: Origin, variables: Variables, warnings: string[]): ReadEntry {
  const written = origin.document.value(origin.path);
  const filled = substitute(written, variables);
  const problem = missingText(filled);
  try {
    const entry = parseServerEntry(filled.value, origin, warnings);
    if (problem === undefined) checkUrl(entry, origin);
    return { entry, problem, secrets: filled.secrets };
  } catch (error) {
    if (!(error instanceof GatewayError) || filled.secrets.size === 0) throw error;
    const entry = parseServerEntry(written, origin, warnings);
    if (entry.transport.kind !== "stdio" && !entry.transport.url.includes("${")) checkUrl(entry, origin);
    return {
      entry,
      problem: `a variable in it has a value that does not fit (${error.message})`,
      secrets: filled.secrets,
    };
  }
}

/** Why a server lacks values, naming the variables; undefined when it lacks none. */
export function missingText(filled: Pick<Substituted, "missing">): string | undefined {
  const names = [...new Set(filled.missing.map(({ name }) => name))];
  const inputs = names.filter((name) => name.startsWith("input:"));
  if (inputs[0] !== undefined)
    return `it asks for \${${inputs[0]}}, which only VS Code can fill in; use \${VARIABLE} instead`;
  if (names.length === 0) return undefined;
  return names.length === 1 ? `the variable ${names[0]} is not set` : `the variables ${names.join(", ")} are not set`;
}

function checkUrl(entry: ServerEntry, origin: Origin): void {
  if (entry.transport.kind === "stdio") return;
  const { protocol } = URL.canParse(entry.transport.url) ? new URL(entry.transport.url) : { protocol: "" };
  if (protocol === "http:" || protocol === "https:") return;
  refuse(
    { document: origin.document, path: [...origin.path, entry.transport.urlField] },
    "expected an absolute http:// or https:// URL",
  );
}

/** Slugs must differ in more than what people overlook (FAULTS.md 54): the first of two keeps the name. */
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
        const clash = `its name cannot be told apart from that of ${JSON.stringify(earlier)}, which comes first; rename one`;
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
}

function toServer(
  key: string,
  slug: ServerSlug,
  entry: ServerEntry,
  { source, disabledReason }: Finishing,
): ServerConfig {
  const { inherited } = source;
  const transport = toTransport(entry.transport, source.directory);
  const required = { user: entry.required?.user ?? [], team: entry.required?.team ?? [] };
  const isPersonal = required.user.length > 0 || required.team.length > 0;
  const stateful = entry.stateful ?? isKnownStateful(transport);
  const callTimeoutMs = entry.callTimeoutMs ?? inherited.callTimeoutMs;
  return {
    slug,
    key,
    displayName: entry.displayName ?? key,
    transport,
    disabledReason,
    namespace: entry.namespace ?? toNamespace(slug),
    category: entry.category,
    icon: entry.icon,
    priority: entry.priority ?? defaults.priority,
    scope: entry.scope ?? (isPersonal ? "user" : inherited.scope),
    startTimeoutMs: entry.startTimeoutMs ?? inherited.startTimeoutMs,
    discoveryTimeoutMs: entry.discoveryTimeoutMs ?? inherited.discoveryTimeoutMs,
    callTimeoutMs,
    maxCallTimeoutMs: Math.max(callTimeoutMs, entry.maxCallTimeoutMs ?? inherited.maxCallTimeoutMs),
    ...toIdleRules(entry, stateful, inherited),
    retry: entry.retry ?? defaults.retry,
    strictResults: entry.strictResults ?? defaults.strictResults,
    interactive: entry.interactive ?? defaults.interactive,
    requestLogging: entry.requestLogging ?? defaults.requestLogging,
    tools: toToolRules(entry.tools),
    required,
    hash: hashTransport(transport),
  };
}

/** What an entry says of its idle time is obeyed; otherwise what holds state is kept for longer than the others, never for less. */
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

/** In the file 0 means "never stop it"; inside, never is the longest time that a timer knows. */
function neverForZero(idleTimeoutMs: number): number {
  return idleTimeoutMs === 0 ? longestMs : idleTimeoutMs;
}

function toToolRules(tools: ServerEntry["tools"]): ToolRules {
  return {
    allow: tools?.allow,
    deny: tools?.deny ?? [],
    rename: tools?.rename ?? {},
    describe: tools?.describe ?? {},
  };
}

/**
 * Relative paths start at the file: the process runs in the file's directory unless `cwd` says otherwise, so that relative
 * arguments mean what they say; arguments themselves are never touched. A bare command is looked up in PATH.
 */
function toTransport(transport: ServerEntry["transport"], directory: string): Transport {
  if (transport.kind !== "stdio")
    return { kind: transport.kind, url: transport.url, headers: { ...transport.headers } };
  const { command } = transport;
  const isRelativePath = !isAbsolute(command) && /[/\\]/.test(command);
  return {
    kind: "stdio",
    command: isRelativePath ? resolve(directory, command) : command,
    args: [...transport.args],
    env: { ...transport.env },
    cwd: resolve(directory, transport.cwd ?? "."),
  };
}
