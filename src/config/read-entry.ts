import { problemAt, refuse, type Origin } from "./check.ts";
import type { Path } from "./document.ts";
import { toEnvFilePath, type EnvFile, type EnvFiles } from "./env-file.ts";
import { problemsOf, toReason } from "./problems.ts";
import { toRootUri } from "./root-uri.ts";
import { parseServerEntry, type ServerEntry } from "./server-entry.ts";
import { missingText, substitute, type Variables } from "./substitution.ts";
import { hasProcess } from "./transports.ts";

/** What an entry is read with. */
export interface EntrySource {
  /** Directory of the file: relative paths start here. */
  readonly directory: string;
  readonly variables: Variables;
  /** Names that have a value without any variable; see `substitute`. */
  readonly predefined: Variables;
  readonly envFiles: EnvFiles;
}

export interface ReadEntry {
  readonly entry: ServerEntry;
  /** Why the entry cannot be used. */
  readonly problem: string | undefined;
  /** The same, but only where the entry itself is wrong rather than the variables or files that it refers to. */
  readonly wrong: readonly string[];
  readonly warnings: readonly string[];
  readonly secrets: ReadonlySet<string>;
  readonly envFile: string | undefined;
}

/** Reads one server's entry. When a value that came from a variable is wrong, the entry itself is not. */
export function readEntry(origin: Origin, source: EntrySource): ReadEntry {
  const { document, path } = origin;
  const written = document.value(path);
  const { value, missing, secrets } = substitute(written, source.variables, source.predefined);
  const unusable = (problems: readonly string[], warnings: readonly string[] = []): ReadEntry => ({
    entry: standIn(value),
    problem: toReason(problems, document.fileName),
    wrong: problems,
    warnings,
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
  if (literal === undefined || !("entry" in literal)) return unusable(read.problems, read.warnings);
  const problem = `a variable in it has a value that does not fit (${toReason(read.problems, document.fileName)})`;
  return { ...literal, problem, wrong: [], secrets, envFile: undefined };
}

/** Whether `path` lies within what stands at `outer`. */
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
    const { transport } = entry;
    const isChecked = !hasProcess(transport) && (isFilled || !transport.url.includes("${"));
    return isChecked && !isWebUrl(transport.url)
      ? { problems: [wrongUrl(origin, transport.urlField)], warnings }
      : { entry, warnings };
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

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function wrongUrl({ document, path }: Origin, field: string): string {
  return problemAt({ document, path: [...path, field] }, "expected an absolute http:// or https:// URL");
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
  readonly entry: ServerEntry;
  readonly problem: string | undefined;
  readonly secrets: readonly string[];
  readonly path: string | undefined;
}

/** The entry with the variables of its `envFile`. Those under `env` take precedence, as in VS Code. */
function readEnvironment(entry: ServerEntry, { document, path }: Origin, source: EntrySource): Environment {
  const { transport } = entry;
  if (!hasProcess(transport) || transport.envFile === undefined)
    return { entry, problem: undefined, secrets: [], path: undefined };
  const filePath = toEnvFilePath(source.directory, transport.envFile);
  // When a variable is missing in the path, that has already been reported.
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
