import { posix, win32 } from "node:path";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Document, Path } from "../../file/document.ts";
import { problemsOf } from "../../file/problems.ts";
import { isWithin } from "../../entry/read-entry.ts";
import { placesOf, type ClientPlace, type ClientSurroundings } from "../table/client-places.ts";
import type { ClientFormat, ClientRow, ClientScope } from "../table/client-row.ts";
import { clientTable } from "../table/client-table.ts";
import { translateEntry, type ImportedEntry } from "../connect/client-entry.ts";
import { findGatewayIn, type GatewayFound } from "../connect/known-gateways.ts";
import { toolNamespace } from "../connect/own-entry.ts";
import { parseSettings } from "../connect/settings-document.ts";
import {
  isFolderThere,
  listSettingsFiles,
  readSettingsText,
  switchedOff,
  type OffFacts,
} from "../connect/settings-text.ts";

/** The surroundings that decide which clients are found. */
export interface ReadClientsOptions extends ClientSurroundings {
  /** Origins at which this machine's gateways listen, to recognise entries that lead to them. */
  readonly ownUrls: readonly string[];
}

/** A server in a client's file. */
export interface FoundServer {
  readonly name: string;
  /** `file:line:column` of its entry; without line where a file's parser does not tell. */
  readonly place: string;
  readonly entry: ImportedEntry;
  readonly notes: readonly string[];
  /** The project that it belongs to: where its process runs, unless its entry says otherwise. */
  readonly project: string | undefined;
  /** Set when it is not a server but a gateway. */
  readonly gateway: GatewayFound | undefined;
  /** Of a gateway: its entry as it is written, and where in the file. */
  readonly written?: unknown;
  readonly keyPath?: Path;
  /** Of a gateway: whether the file names it among those whose tools the client's model is shown, where it has to. */
  readonly isShown?: boolean | undefined;
}

/** A file of a client that exists. */
export interface FoundFile {
  readonly path: string;
  /** With symbolic links followed. */
  readonly realPath: string;
  readonly scope: ClientScope;
  readonly servers: readonly FoundServer[];
  /** What cannot be read or used, each with its place. None contains a value. */
  readonly problems: readonly string[];
}

export interface FoundClient {
  readonly row: ClientRow;
  /** Files that exist. Empty for a client that is installed and has no servers of its own. */
  readonly files: readonly FoundFile[];
}

/**
 * Every AI client of this user with what its files say, in the order of the table; those without any trace are left
 * out. Only reads, and only at places that follow from the options. Never rejects because of a file: its mistakes are
 * among its problems.
 */
export async function readClients(options: ReadClientsOptions): Promise<readonly FoundClient[]> {
  const settings = createSettingsReader();
  const found = await Promise.all(
    clientTable.map(async (row): Promise<readonly FoundClient[]> => {
      const places = placesOf(row, options);
      const files = await Promise.all(places.map(async (place) => await readPlace({ row, place, options, settings })));
      const all = withoutRepeated(places, files);
      return all.length > 0 || (await isInstalled(places, options)) ? [{ row, files: all }] : [];
    }),
  );
  return found.flat();
}

/**
 * One real file is one file, of the first place that leads to it: in the home folder, `~/.cursor/mcp.json` is the
 * user's and no project's. Links and, where the system ignores it, case do not make two of one.
 */
function withoutRepeated(
  places: readonly ClientPlace[],
  files: readonly (readonly FoundFile[])[],
): readonly FoundFile[] {
  const seen = new Set<string>();
  return places.flatMap(({ keyPath }, index) =>
    (files[index] ?? []).filter(({ realPath }) => {
      const id = JSON.stringify([realPath, keyPath]);
      return !seen.has(id) && seen.add(id);
    }),
  );
}

type Settings =
  | { readonly document: Document; readonly realPath: string }
  | { readonly problems: readonly string[]; readonly realPath: string };

/** Reads a file once, however many places are in it. Undefined for a file that does not exist. */
type SettingsReader = (path: string, format: ClientFormat) => Promise<Settings | undefined>;

function createSettingsReader(): SettingsReader {
  const read = new Map<string, Promise<Settings | undefined>>();
  return async (path, format) => {
    const before = read.get(path);
    if (before !== undefined) return await before;
    const reading = readSettings(path, format);
    read.set(path, reading);
    return await reading;
  };
}

async function readSettings(path: string, format: ClientFormat): Promise<Settings | undefined> {
  const found = await readSettingsText(path);
  if (found === undefined) return undefined;
  const { realPath } = found;
  if (found.text === undefined) return { problems: [`${path}: ${found.problem}`], realPath };
  try {
    return { document: await parseSettings(found.text, path, formatOf(path, format)), realPath };
  } catch (error) {
    return { problems: problemsOf(error), realPath };
  }
}

/** A folder of Continue's may have files in both formats. */
function formatOf(path: string, format: ClientFormat): ClientFormat {
  return format === "yaml" && path.toLowerCase().endsWith(".json") ? "jsonc" : format;
}

interface PlaceReading {
  readonly row: ClientRow;
  readonly place: ClientPlace;
  readonly options: ReadClientsOptions;
  readonly settings: SettingsReader;
}

async function readPlace(reading: PlaceReading): Promise<readonly FoundFile[]> {
  const { place, settings } = reading;
  const paths = await Promise.all(place.files.map(listSettingsFiles));
  const off = await readOff(reading);
  const found: FoundFile[] = [];
  for (const path of paths.flat()) {
    const read = await settings(path, place.row.format);
    if (read === undefined) continue;
    const common = { path, realPath: read.realPath, scope: place.row.scope };
    if ("problems" in read) found.push({ ...common, servers: [], problems: read.problems });
    else found.push({ ...common, ...readServers(read.document, off, reading) });
  }
  return found;
}

async function readOff({ place, options, settings }: PlaceReading): Promise<readonly OffFacts[]> {
  const facts = place.off.flatMap(({ files, keyPath, kind }) =>
    files.map(async (file): Promise<OffFacts> => {
      const read = await settings(file, "jsonc");
      return { kind, value: read && "document" in read ? valueAt(read.document, keyPath, options)?.value : undefined };
    }),
  );
  return await Promise.all(facts);
}

/** The value at a key path, and the path at which it was found: Windows writes projects with `/` in some clients. */
function valueAt(
  document: Document,
  keyPath: readonly string[],
  { cwd, platform }: ClientSurroundings,
): { readonly value: unknown; readonly path: Path } | undefined {
  const slashed = keyPath.map((step) => (platform === "win32" && step === cwd ? cwd.replaceAll("\\", "/") : step));
  for (const path of [keyPath, slashed]) {
    const value = document.value(path);
    if (value !== undefined) return { value, path };
  }
  return undefined;
}

function readServers(
  document: Document,
  off: readonly OffFacts[],
  { row, place, options }: PlaceReading,
): Pick<FoundFile, "servers" | "problems"> {
  const at = valueAt(document, place.keyPath, options);
  if (at === undefined || at.value === null) return { servers: [], problems: [] };
  const isList = row.entries === "continue" && Array.isArray(at.value);
  if (!isList && !isJsonObject(at.value))
    return { servers: [], problems: [`${document.place(at.path)}: expected an object with one member per server`] };
  const entries = isList ? listed(at.value as readonly unknown[], at.path) : named(document, at.path);
  const servers: FoundServer[] = [];
  const problems: string[] = [];
  const project = place.row.scope === "user" ? undefined : options.cwd;
  for (const { name, path } of entries) {
    const wrong = document.wrongKeys.filter((key) => isWithin(key.path, path) || isSame(key.path, path));
    problems.push(...wrong.map(({ problem }) => problem));
    if (wrong.length > 0) continue;
    // opencode keeps other settings of its own among the servers.
    if (row.entries === "opencode" && !isServer(document.value(path))) continue;
    const how = { entries: row.entries, dialect: row.variables, project, env: options.env };
    try {
      const translated = translateEntry(document.value(path), { document, path }, how);
      const entry = withOff(inProject(translated.entry, project, options), off, name);
      const gateway = findGatewayIn(entry, options.ownUrls);
      const found = { name, place: document.place(path), entry, notes: translated.notes, project, gateway };
      servers.push(gateway === undefined ? found : { ...found, ...asWritten(document, path, { row, name }) });
    } catch (error) {
      problems.push(...problemsOf(error));
    }
  }
  return { servers, problems: [...new Set(problems)] };
}

function asWritten(
  document: Document,
  keyPath: Path,
  { row: { shownAt }, name }: { readonly row: ClientRow; readonly name: string },
): Pick<FoundServer, "written" | "keyPath" | "isShown"> {
  const listed = shownAt === undefined ? undefined : document.value(shownAt);
  const isShown = shownAt && Array.isArray(listed) && listed.includes(toolNamespace(name));
  return { written: document.value(keyPath), keyPath, isShown };
}

interface NamedPath {
  readonly name: string;
  readonly path: Path;
}

function named(document: Document, path: Path): readonly NamedPath[] {
  // opencode's second version has them one level deeper.
  const deeper = [...path, "servers"];
  const isDeeper = path.at(-1) === "mcp" && isJsonObject(document.value(deeper)) && !isServer(document.value(deeper));
  const at = isDeeper ? deeper : path;
  return document.keys(at).map((name) => ({ name, path: [...at, name] }));
}

function listed(list: readonly unknown[], path: Path): readonly NamedPath[] {
  return list.map((item, index) => {
    const name = isJsonObject(item) ? item["name"] : undefined;
    return { name: typeof name === "string" && name !== "" ? name : `server-${index + 1}`, path: [...path, index] };
  });
}

function isServer(value: unknown): boolean {
  return isJsonObject(value) && (typeof value["type"] === "string" || "command" in value || "url" in value);
}

function isSame(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index]);
}

function withOff(entry: ImportedEntry, off: readonly OffFacts[], name: string): ImportedEntry {
  const { isOff, tools } = switchedOff(name, off);
  const deny = [...new Set([...(entry.tools?.deny ?? []), ...tools])];
  return {
    ...entry,
    ...(deny.length > 0 ? { tools: { ...entry.tools, deny } } : {}),
    ...(isOff ? { enabled: false as const } : {}),
  };
}

/** With the paths of a project made absolute, because our file is elsewhere. */
function inProject(entry: ImportedEntry, project: string | undefined, { platform }: ClientSurroundings): ImportedEntry {
  if (project === undefined) return entry;
  const paths = platform === "win32" ? win32 : posix;
  const toAbsolute = (path: string) =>
    path.startsWith("${") || path.startsWith("~") ? path : paths.resolve(project, path);
  const { command, cwd, envFile } = entry;
  return {
    ...entry,
    ...(command !== undefined && /[/\\]/.test(command) ? { command: toAbsolute(command) } : {}),
    ...(cwd === undefined ? {} : { cwd: toAbsolute(cwd) }),
    ...(envFile === undefined ? {} : { envFile: toAbsolute(envFile) }),
  };
}

/** A client that has no file yet has left its folder. A folder that others have, too, says nothing. */
async function isInstalled(
  places: readonly ClientPlace[],
  { home, cwd, platform }: ClientSurroundings,
): Promise<boolean> {
  const { dirname } = platform === "win32" ? win32 : posix;
  const folders = places
    .filter(({ row }) => row.scope === "user")
    .flatMap(({ files }) => files.map((file) => dirname(file)))
    .filter((folder) => folder !== home && folder !== cwd);
  const there = await Promise.all(folders.map(isFolderThere));
  return there.includes(true);
}
