import { posix, win32 } from "node:path";
import type { Variables } from "../../file/substitution.ts";
import type { ClientRow, ClientSystem, MovingVariable, OffKind, PathTemplate, PlaceRow } from "./client-row.ts";
import { projectKey } from "./client-row.ts";

/** What decides where a client's files are. Nothing is taken from the process. */
export interface ClientSurroundings {
  /** The home directory. */
  readonly home: string;
  readonly env: Variables;
  readonly platform: NodeJS.Platform;
  /** The project's folder. */
  readonly cwd: string;
}

/** One place of a client on this machine. Its files need not exist. */
export interface ClientPlace {
  readonly row: PlaceRow;
  /** Absolute paths. The first is the one that the client itself makes. A path that ends in `*` is a folder's files. */
  readonly files: readonly string[];
  readonly keyPath: readonly string[];
  readonly off: readonly OffPlace[];
}

/** Where servers are switched off by name. */
export interface OffPlace {
  readonly files: readonly string[];
  readonly keyPath: readonly string[];
  readonly kind: OffKind;
}

/** The places of a client on this system. Pure; looks at no file. */
export function placesOf(client: ClientRow, surroundings: ClientSurroundings): readonly ClientPlace[] {
  return client.places.flatMap((row) => {
    const files = filesOf(row, surroundings);
    if (files.length === 0) return [];
    const keyPath = toKeyPath(row.keyPath, surroundings);
    const off = (row.off ?? []).map((list) => ({
      files:
        moved(list.variable === undefined ? [] : [list.variable], surroundings) ?? toPaths(list.files, surroundings),
      keyPath: toKeyPath(list.keyPath, surroundings),
      kind: list.kind,
    }));
    return [{ row, files, keyPath, off }];
  });
}

/** The system that a platform counts as. */
export function systemOf(platform: NodeJS.Platform): ClientSystem {
  return platform === "darwin" || platform === "win32" ? platform : "linux";
}

function filesOf(row: PlaceRow, surroundings: ClientSurroundings): readonly string[] {
  const byVariable = moved(row.variables ?? [], surroundings);
  if (byVariable !== undefined) return byVariable;
  const files: PlaceRow["files"] = row.files;
  const templates = isList(files) ? files : (files[systemOf(surroundings.platform)] ?? []);
  return toPaths(templates, surroundings);
}

function isList(files: PlaceRow["files"]): files is readonly PathTemplate[] {
  return Array.isArray(files);
}

/** The file that the first of these variables names. Undefined when none is set. */
function moved(
  variables: readonly MovingVariable[],
  { env, cwd, platform }: ClientSurroundings,
): readonly string[] | undefined {
  const paths = pathsOf(platform);
  for (const { name, within } of variables) {
    const value = env[name];
    if (value) return [paths.resolve(cwd, value, ...within.split("/"))];
  }
  return undefined;
}

function toPaths(templates: readonly PathTemplate[], surroundings: ClientSurroundings): readonly string[] {
  return templates.map((template) => toPath(template, surroundings));
}

/** Where a path of the table is on this system. */
export function toPath(template: PathTemplate, { home, env, platform, cwd }: ClientSurroundings): string {
  const paths = pathsOf(platform);
  const colon = template.indexOf(":");
  const base = template.slice(0, colon);
  const inBase = (folder: string) => paths.join(folder, ...template.slice(colon + 1).split("/"));
  switch (base) {
    case "project":
      return inBase(cwd);
    case "config": {
      const xdg = env["XDG_CONFIG_HOME"];
      return inBase(xdg && paths.isAbsolute(xdg) ? xdg : paths.join(home, ".config"));
    }
    case "roaming":
      return inBase(env["APPDATA"] || paths.join(home, "AppData", "Roaming"));
    case "support":
      return inBase(paths.join(home, "Library", "Application Support"));
    default:
      return inBase(home);
  }
}

function toKeyPath(keyPath: readonly string[], { cwd }: ClientSurroundings): readonly string[] {
  return keyPath.map((step) => (step === projectKey ? cwd : step));
}

/** The table is tested for all systems on one: the separator is the system's that is asked for. */
function pathsOf(platform: NodeJS.Platform): typeof posix {
  return platform === "win32" ? win32 : posix;
}
