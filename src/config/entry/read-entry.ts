import { problemAt, refuse, type Origin } from "../file/check.ts";
import type { Path } from "../file/document.ts";
import { fillEntry, type Refill } from "./entry-variables.ts";
import { isProgramFile, toCommandWords } from "../words/command-words.ts";
import { envFilePath, type EnvFiles } from "./env-file.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { withTexts } from "../rows/plain-values.ts";
import { problemsOf, toReason } from "../file/problems.ts";
import { toRootUri } from "../words/web-names.ts";
import { parseServerEntry, type ServerEntry } from "./server-entry.ts";
import { missingText, type Variables } from "../file/substitution.ts";
import { environmentSecrets } from "../secrets.ts";
import { isKnownStateful, isKnownToKeepFiles } from "./stateful-servers.ts";
import { hasProcess } from "./transports.ts";

/** What an entry is read with. */
export interface EntrySource {
  /** Directory of the file: relative paths start here. */
  readonly directory: string;
  readonly variables: Variables;
  /** Names that have a value without any variable; see `substitute`. */
  readonly predefined: Variables;
  readonly envFiles: EnvFiles;
  /** Names of variables that people or teams may give it, beside those that the entry itself names. */
  readonly later?: readonly string[];
  /** The variables by which a command is found: PATH and, on Windows, PATHEXT. None is part of the configuration. */
  readonly programs?: Variables;
}

export interface ReadEntry {
  readonly entry: ServerEntry;
  /** Why the entry cannot be used. */
  readonly problem: string | undefined;
  /** The same, but only where the entry itself is wrong rather than the variables or files that it refers to. */
  readonly wrong: readonly string[];
  readonly warnings: readonly string[];
  /** What was read otherwise than it is written, and works. */
  readonly notes: readonly string[];
  readonly secrets: ReadonlySet<string>;
  readonly envFile: string | undefined;
  readonly refill?: Refill | undefined;
}

/** Reads one server's entry. When a value that came from a variable is wrong, the entry itself is not. */
export function readEntry(origin: Origin, source: EntrySource): ReadEntry {
  const { document, path } = origin;
  const { entry: words, isSplit } = withWords(document.value(path), source);
  const notes = isSplit ? [commandLineNote({ document, path: [...path, "command"] })] : [];
  const written = withTexts(words, origin);
  const file = readEnvironment(written, origin, source);
  const later = new Set([...laterNames(written), ...(source.later ?? [])]);
  const { value, missing, secrets, refill, usesFile } = fillEntry(written, { ...source, fromFile: file.values, later });
  const unusable = (problems: readonly string[], warnings: readonly string[] = []): ReadEntry => ({
    entry: standIn(value),
    problem: toReason(problems, document.fileName),
    wrong: problems,
    warnings,
    notes,
    secrets,
    envFile: undefined,
  });
  const wrongKeys = document.wrongKeysIn(path);
  if (wrongKeys.length > 0) return unusable(wrongKeys.map(({ problem }) => problem));
  const lacking = missingText(missing);
  const read = attemptEntry(value, origin, lacking === undefined);
  if ("entry" in read) {
    const { transport } = read.entry;
    const isProcess = hasProcess(transport);
    const entry = isProcess
      ? { ...read.entry, transport: { ...transport, env: { ...file.values, ...transport.env } } }
      : read.entry;
    // A remote server gets nothing of the file but what it names.
    const unread = isProcess && file.problem !== undefined ? toReason([file.problem], document.fileName) : undefined;
    const problem = [lacking, unread].filter((reason) => reason !== undefined).join("; ") || undefined;
    const unused = usesFile || file.path === undefined ? [] : [withoutEffect(origin)];
    const ofRemote = lacking === undefined || file.problem === undefined ? unused : [file.problem];
    const warnings = isProcess ? read.warnings : [...read.warnings, ...ofRemote];
    const all = new Set([...secrets, ...Object.values(file.values), ...(isProcess ? [] : ownSecrets(value))]);
    return { entry, problem, wrong: [], warnings, notes, secrets: all, envFile: file.path, refill };
  }
  const literal = secrets.size === 0 ? undefined : attemptEntry(written, origin, false);
  if (literal === undefined || !("entry" in literal)) return unusable(read.problems, read.warnings);
  const problem = `a variable in it has a value that does not fit (${toReason(read.problems, document.fileName)})`;
  return { ...literal, problem, wrong: [], notes, secrets, envFile: undefined };
}

/** The entry with the words of a command line where they belong. Its variables are needed to look for the program. */
function withWords(entry: unknown, source: EntrySource): { readonly entry: unknown; readonly isSplit: boolean } {
  const { directory, variables, predefined, programs = {} } = source;
  const own = isJsonObject(entry) ? entry["env"] : undefined;
  const filled = (command: string) =>
    fillEntry({ command, env: own }, { variables, predefined }).value as {
      readonly command: string;
      readonly env?: unknown;
    };
  const isProgram = (text: string): boolean => {
    const { command, env } = filled(text);
    const path = isJsonObject(env) && typeof env["PATH"] === "string" ? { PATH: env["PATH"] } : {};
    return isProgramFile(command, { directory, env: { ...programs, ...path } });
  };
  return toCommandWords(entry, { isProgram, platform: process.platform }) ?? { entry, isSplit: false };
}

function withoutEffect({ document, path }: Origin): string {
  const why = "has no effect here: only a process has an environment";
  return problemAt({ document, path: [...path, "envFile"] }, why);
}

function commandLineNote(origin: Origin): string {
  return problemAt(origin, "is a whole command line: its first word is started, and the others come before `args`");
}

/**
 * Variables that the entry leaves to people and teams. One instance for everybody is started before any of them could
 * give one.
 */
function laterNames(written: unknown): readonly string[] {
  if (!isJsonObject(written) || written["scope"] === "shared") return [];
  const lists = [written["required"], written["optional"]].flatMap((group) =>
    isJsonObject(group) ? [group["user"], group["team"]] : [],
  );
  return lists.flat().flatMap((path) => (typeof path === "string" && path.startsWith("env.") ? [path.slice(4)] : []));
}

/** Values under `env` of a remote server: they may be in its address and headers. */
function ownSecrets(entry: unknown): readonly string[] {
  const env = isJsonObject(entry) && isJsonObject(entry["env"]) ? entry["env"] : {};
  return environmentSecrets(
    Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string")),
  );
}

/** Whether `path` lies within `outer`. */
export function isWithin(path: Path, outer: Path): boolean {
  return path.length > outer.length && outer.every((step, index) => path[index] === step);
}

type Attempt =
  | { readonly entry: ServerEntry; readonly warnings: readonly string[] }
  /**
   * Warnings come along, because one such as `comand: unknown field; did you mean command?` explains why there is no
   * command.
   */
  | { readonly problems: readonly string[]; readonly warnings: readonly string[] };

/**
 * `isFilled` says that every variable has its value, so that a `${` in the address does not stand for a missing
 * variable.
 */
function attemptEntry(value: unknown, origin: Origin, isFilled: boolean): Attempt {
  const warnings: string[] = [];
  try {
    const entry = parseServerEntry(value, origin, warnings);
    checkRoots(entry, origin);
    checkReplicas(entry, origin);
    checkEveryNode(entry, origin);
    const problems = wrongAddresses(entry, origin, isFilled);
    return problems.length > 0 ? { problems, warnings } : { entry, warnings };
  } catch (error) {
    return { problems: problemsOf(error), warnings };
  }
}

function checkRoots({ roots }: ServerEntry, origin: Origin): void {
  for (const [index, root] of (roots ?? []).entries())
    if (toRootUri(root, { directory: "/", home: undefined }) === undefined)
      refuse(
        { document: origin.document, path: [...origin.path, "roots", index] },
        "expected the path of a folder, or a file:// URI",
      );
}

/**
 * Calls that go to different processes find nothing of each other there: refused for a server of which it is known
 * that it keeps something, because nothing else would tell.
 */
function checkReplicas({ replicas = 1, stateful, scope, transport }: ServerEntry, { document, path }: Origin): void {
  const field = replicas > 1 ? "replicas" : "urls";
  if (replicas === 1 && (hasProcess(transport) || (transport.urls?.length ?? 0) < 2)) return;
  const place = { document, path: [...path, field] };
  const needed = `\`${field}\` divides calls among processes that know nothing of each other`;
  if (stateful ?? isKnownStateful(transport))
    refuse(place, `cannot be used for a server that keeps state between calls (\`stateful\`): ${needed}`);
  if (scope === "client")
    refuse(place, `cannot be used with the scope \`client\`, which is for a server that keeps state: ${needed}`);
}

/** Processes at several nodes know nothing of each other either. */
function checkEveryNode(entry: ServerEntry, { document, path }: Origin): void {
  const { stateful, scope, transport, exclusive, files, place } = entry;
  if (place?.everyNode !== true) return;
  const others = {
    "a server that keeps state between calls (`stateful`)": stateful ?? isKnownStateful(transport),
    "the scope `client`, which is for a server that keeps state": scope === "client",
    "`exclusive`, which has one process": exclusive === true,
    '`files: "node"`, which is for one node':
      files === "node" || (files === undefined && isKnownToKeepFiles(transport)),
    "`place.labels`, which choose nodes": Object.keys(place.labels ?? {}).length > 0,
  };
  const [other] = Object.entries(others).find(([, isSo]) => isSo) ?? [];
  if (other !== undefined)
    refuse({ document, path: [...path, "place", "everyNode"] }, `cannot be used together with ${other}`);
}

/** `isFilled` as for {@link attemptEntry}. */
function wrongAddresses({ transport }: ServerEntry, origin: Origin, isFilled: boolean): readonly string[] {
  if (hasProcess(transport)) return [];
  const { urls, url, urlField } = transport;
  const plain = urls?.map((address) => (URL.canParse(address) ? new URL(address).href : address));
  const isWrong = (address: string): boolean => (isFilled || !address.includes("${")) && !isWebUrl(address);
  if (urls === undefined) return isWrong(url) ? [wrongUrl(origin, [urlField])] : [];
  return urls.flatMap((address, index) => {
    if (isWrong(address)) return [wrongUrl(origin, [urlField, index])];
    const place = { document: origin.document, path: [...origin.path, urlField, index] };
    return plain?.indexOf(plain[index] ?? "") !== index
      ? [problemAt(place, "is there twice; `replicas` has several connections")]
      : [];
  });
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function wrongUrl({ document, path }: Origin, field: Path): string {
  return problemAt({ document, path: [...path, ...field] }, "expected an absolute http:// or https:// URL");
}

/**
 * Takes the place of an entry that is wrong: enough to show the server with its reason, but nothing that could be
 * started. Its values are kept, because a process that has them and is just being stopped may still write them to the
 * log.
 */
function standIn(value: unknown): ServerEntry {
  const { disabled, enabled, env, headers } = Object(value) as Readonly<Record<string, unknown>>;
  const values = [...Object.entries(Object(env) as object), ...Object.entries(Object(headers) as object)];
  const texts = values.filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return {
    enabled: disabled !== true && enabled !== false,
    transport: {
      kind: "stdio",
      command: "",
      args: [],
      env: Object.fromEntries(texts),
      envFile: undefined,
      cwd: undefined,
    },
  };
}

interface Environment {
  readonly values: Readonly<Record<string, string>>;
  readonly problem: string | undefined;
  readonly path: string | undefined;
}

/** The variables of the entry's `envFile`. Those under `env` take precedence, as in VS Code. */
function readEnvironment(entry: unknown, { document, path }: Origin, source: EntrySource): Environment {
  const filePath = envFilePath(entry, source);
  if (filePath === undefined) return { values: {}, problem: undefined, path: undefined };
  const { values = {}, problem } = source.envFiles.get(filePath) ?? { problem: "was not read" };
  const origin: Origin = { document, path: [...path, "envFile"] };
  const told = problem && problemAt(origin, `${String(document.value(origin.path))}: ${problem}`);
  return { values, problem: told, path: filePath };
}
