import { watch, type FSWatcher } from "node:fs";
import { lstat, readlink, stat } from "node:fs/promises";
import { basename, dirname, join, parse, resolve, sep } from "node:path";

export interface WatchedPlaces {
  /** Watches where the files are now, in case they have moved. */
  follow(): Promise<void>;
  /**
   * Whether something cannot be watched (too many watches, a network file system, a folder that does not exist yet),
   * so that the caller has to check it from time to time.
   */
  readonly isBlind: boolean;
}

export interface PlacesOptions {
  /** Absolute paths. Called at each `follow`. */
  readonly files: () => readonly string[];
  readonly onEvent: () => void;
  readonly signal: AbortSignal;
}

/**
 * Watches the directories that decide what each file is: those of the file itself and of every symbolic link on the
 * way to it. The file itself is not watched, because when it is replaced, a watch would stay on the old one.
 */
export async function watchPlaces({ files, onEvent, signal }: PlacesOptions): Promise<WatchedPlaces> {
  let watcher: Closeable | undefined;
  let watched = "";
  let isBlind = false;
  let isMissing = false;

  async function follow(): Promise<void> {
    const paths = [...new Set((await Promise.all(files().map(decidingPaths))).flat())];
    const marks = await Promise.all(paths.map(async (path) => `${path}\0${await identity(dirname(path))}`));
    isMissing = marks.some((mark) => mark.endsWith(`\0${noDirectory}`));
    const key = marks.join("\0");
    if (signal.aborted || key === watched) return;
    const isFirst = watched === "";
    watched = key;
    watcher?.close();
    isBlind = false;
    watcher = open(paths, onEvent, () => {
      isBlind = true;
    });
    // Something may have happened while nothing was watched.
    if (!isFirst) onEvent();
  }

  signal.addEventListener("abort", () => watcher?.close(), { once: true });
  await follow();
  return {
    follow,
    get isBlind() {
      return isBlind || isMissing;
    },
  };
}

/**
 * Watches directories with the system's own watches, by the names that it reports. A library that looks after each
 * event what changed reads the whole directory for that, and a configuration often lies in a home or temporary
 * directory, where hundreds of other files change.
 */
function open(paths: readonly string[], onEvent: () => void, onBlind: () => void): Closeable {
  const interesting = new Set(paths);
  const directories = new Set(paths.map((path) => dirname(path)));
  const watchers: FSWatcher[] = [];
  for (const directory of directories) {
    try {
      const watcher = watch(directory, (_event, name) => {
        // Without a name it may be anything; with the directory's own, it was deleted or renamed.
        if (name === null || name === basename(directory) || interesting.has(join(directory, name))) onEvent();
      });
      watcher.on("error", onBlind);
      watchers.push(watcher);
    } catch {
      // It is missing or unreadable, or there are too many watches.
      onBlind();
    }
  }
  return { close: () => watchers.forEach((watcher) => watcher.close()) };
}

interface Closeable {
  close(): void;
}

/** Linux also gives up after this many (path_resolution(7)). */
const mostLinks = 40;

/**
 * The real path of the file, and the path of every symbolic link that leads to it. Links in the root directory are
 * assumed not to change.
 */
export async function decidingPaths(file: string): Promise<readonly string[]> {
  const links: string[] = [];
  let { root: current } = parse(file);
  let rest = file.slice(current.length).split(sep).filter(Boolean);
  while (rest.length > 0) {
    const [step = "", ...further] = rest;
    const next = join(current, step);
    const target = links.length < mostLinks ? await linkTarget(next) : undefined;
    if (target === undefined) {
      current = next;
      rest = further;
      continue;
    }
    if (current !== parse(current).root) links.push(next);
    const full = resolve(current, target);
    current = parse(full).root;
    rest = [...full.slice(current.length).split(sep).filter(Boolean), ...further];
  }
  return [...new Set([...links, current])];
}

const noDirectory = "none";

/**
 * A directory that was deleted and created again has its old name and often its old inode, but is no longer watched.
 */
async function identity(directory: string): Promise<string> {
  try {
    const { dev, ino, birthtimeNs } = await stat(directory, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return noDirectory;
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch {
    return undefined;
  }
}
