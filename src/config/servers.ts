import { isAbsolute, resolve } from "node:path";
import type { ServerSlug } from "../shared/ids.ts";
import { problemAt, type Origin } from "./check.ts";
import type { ServerConfig, ToolRules, Transport } from "./config.ts";
import { defaults, longestMs } from "./defaults.ts";
import { toEnvFilePath, type EnvFile, type EnvFiles } from "./env-file.ts";
import { hashTransport } from "./hash.ts";
import { isKnownStateful } from "./known-state.ts";
import { problemsOf, toReason } from "./problems.ts";
import { parseServerEntry, type ServerEntry } from "./server-entry.ts";
import { lookAlikeForm, toNamespace, toSlug, withKeyHash } from "./slug.ts";
import { isSwitchedOff, type ServerPlace } from "./source.ts";
import { missingText, substitute, type Variables } from "./substitution.ts";
import type { Document, Path } from "./document.ts";

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
  /** What has a value without any variable; see `substitute`. */
  readonly predefined: Variables;
  readonly envFiles: EnvFiles;
  readonly inherited: ServerDefaults;
}

export interface BuiltServers {
  readonly servers: readonly ServerConfig[];
  readonly warnings: readonly string[];
  readonly secrets: ReadonlySet<string>;
  /** What is wrong in single entries, to be told beside what makes the whole file unusable. */
  readonly problems: readonly string[];
  /** Absolute paths of the files that `envFile` names. */
  readonly envFiles: readonly string[];
}

/**
 * The servers of a file in its order. A server that cannot be used (its entry is wrong, a variable is missing, its name is taken)
 * is kept, disabled, with that reason: the others run.
 */
export function buildServers(places: readonly ServerPlace[], source: ServerSource): BuiltServers {
  const { document } = source;
  const warnings: string[] = [];
  const secrets = new Set<string>();
  const names = createNames();
  const problems: string[] = [];
  const envFiles = new Set<string>();
  const servers = places.map((place) => {
    const read = readEntry({ document, path: place.path }, source);
    warnings.push(...read.warnings);
    problems.push(...read.wrong);
    for (const secret of read.secrets) secrets.add(secret);
    if (read.envFile !== undefined) envFiles.add(read.envFile);
    const { slug, clash } = names.claim(place.key);
    const problem = clash ?? read.problem;
    const isOn = read.entry.enabled && !isSwitchedOff(document, place.key);
    if (problem !== undefined && isOn)
      warnings.push(`${document.place(place.path)}: server ${JSON.stringify(place.key)} is disabled: ${problem}`);
    return toServer(place.key, slug, read.entry, {
      source,
      disabledReason: isOn ? problem : "disabled in the configuration",
    });
  });
  return { servers, warnings, secrets, problems, envFiles: [...envFiles] };
}

interface ReadEntry {
  readonly entry: ServerEntry;
  /** Why it cannot be used. */
  readonly problem: string | undefined;
  /** The same, where the entry itself is at fault and not its surroundings. */
  readonly wrong: readonly string[];
  readonly warnings: readonly string[];
  readonly secrets: ReadonlySet<string>;
  readonly envFile: string | undefined;
}

/** A value that a variable brought in may be wrong without the entry being wrong. */
function readEntry(origin: Origin, source: ServerSource): ReadEntry {
  const { document, path } = origin;
  const written = document.value(path);
  const { value, missing, secrets } = substitute(written, source.variables, source.predefined);
  const unusable = (problems: readonly string[]): ReadEntry => ({
    entry: standIn(written),
    problem: toReason(problems, document.fileName),
    wrong: problems,
    warnings: [],
    secrets,
    envFile: undefined,
  });
  const wrongKeys = document.wrongKeys.filter((wrong) => isWithin(wrong.path, path));
  if (wrongKeys.length > 0) return unusable(wrongKeys.map(({ problem }) => problem));
  const lacking = missingText(missing);
  const read = attemptEntry(value, origin, lacking === undefined);
  if ("entry" in read) {
    const file = readEnvironment(read.entry, origin, source);
    const problem = [lacking, file.problem].filter((reason) => reason !== undefined).join("; ") || undefined;
    const all = new Set([...secrets, ...file.secrets]);
    return { entry: file.entry, problem, wrong: [], warnings: read.warnings, secrets: all, envFile: file.path };
  }
  const literal = secrets.size === 0 ? undefined : attemptEntry(written, origin, false);
  if (literal === undefined || !("entry" in literal)) return unusable(read.problems);
  const problem = `a variable in it has a value that does not fit (${toReason(read.problems, document.fileName)})`;
  return { ...literal, problem, wrong: [], secrets, envFile: undefined };
}

/** Whether a place is inside of what stands at `outer`. */
export function isWithin(path: Path, outer: Path): boolean {
  return path.length > outer.length && outer.every((step, index) => path[index] === step);
}

type Attempt =
  | { readonly entry: ServerEntry; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** `isFilled`: every variable has its value, so that a `${` in the address is no variable that is missing. */
function attemptEntry(value: unknown, origin: Origin, isFilled: boolean): Attempt {
  const warnings: string[] = [];
  try {
    const entry = parseServerEntry(value, origin, warnings);
    const { transport } = entry;
    const isChecked = transport.kind !== "stdio" && (isFilled || !transport.url.includes("${"));
    return isChecked && !isWebUrl(transport.url)
      ? { problems: [wrongUrl(origin, transport.urlField)] }
      : { entry, warnings };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function wrongUrl({ document, path }: Origin, field: string): string {
  return problemAt({ document, path: [...path, field] }, "expected an absolute http:// or https:// URL");
}

/** What stands for an entry that is wrong: enough to show the server with its reason, nothing that could be started. */
function standIn(written: unknown): ServerEntry {
  const { disabled, enabled } = Object(written) as { readonly disabled?: unknown; readonly enabled?: unknown };
  return {
    enabled: disabled !== true && enabled !== false,
    transport: { kind: "stdio", command: "", args: [], env: {}, envFile: undefined, cwd: undefined },
  };
}

interface Environment {
  readonly entry: ServerEntry;
  readonly problem: string | undefined;
  readonly secrets: readonly string[];
  readonly path: string | undefined;
}

/** The entry with the variables of its `envFile`; those under `env` are stronger, as in VS Code. */
function readEnvironment(entry: ServerEntry, { document, path }: Origin, source: ServerSource): Environment {
  const { transport } = entry;
  if (transport.kind !== "stdio" || transport.envFile === undefined)
    return { entry, problem: undefined, secrets: [], path: undefined };
  const filePath = toEnvFilePath(source.directory, transport.envFile);
  // A variable that is missing in the path is told already.
  const unread: EnvFile = transport.envFile.includes("${") ? { values: {} } : { problem: "was not read" };
  const { values = {}, problem } = source.envFiles.get(filePath) ?? unread;
  const origin: Origin = { document, path: [...path, "envFile"] };
  const written = String(document.value(origin.path));
  return {
    entry: { ...entry, transport: { ...transport, env: { ...values, ...transport.env } } },
    problem: problem && toReason([problemAt(origin, `${written}: ${problem}`)], document.fileName),
    secrets: Object.values(values),
    path: filePath,
  };
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
    tools: toToolRules(entry),
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

/** What other clients' fields switch off is off, whatever ours say, and the other way round. */
function toToolRules(entry: ServerEntry): ToolRules {
  const own = Array.isArray(entry.tools) ? { allow: entry.tools } : (entry.tools ?? {});
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
