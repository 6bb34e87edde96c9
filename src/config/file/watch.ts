import { toGatewayError, type GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Config } from "../config.ts";
import { watch, type FSWatcher } from "node:fs";
import { lstat, readlink, stat } from "node:fs/promises";
import { basename, dirname, join, parse, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";

export interface WatchOptions {
  /** Absolute path, as in `Config.file`. Links in it are followed again each time. */
  readonly file: string;
  /** The configuration in force, so that only real changes are reported. */
  readonly current: Config;
  /** Reads the file again, usually by `loadConfig` with the same options. */
  readonly load: () => Promise<Config>;
  /** Called with each new configuration, one at a time: the next waits until this one has settled. */
  readonly onApplied: (config: Config) => void | Promise<void>;
  /** Called once per distinct reason while the file cannot be used. The old configuration stays in force. */
  readonly onRefused: (error: GatewayError) => void;
  /** Called when a file that was refused can be used again, also where it says what it said before. */
  readonly onMended: () => void;
  readonly signal: AbortSignal;
}

/** Editors write a file in several steps. It is read once it has been quiet this long. */
const quietMs = 100;
/** A file that never becomes quiet is read this often all the same. */
const longestWaitMs = 1_000;
/**
 * How often to check while the file cannot be used or watched: restored permissions and writes by other machines
 * cause no event.
 */
const recheckMs = 2_000;

/**
 * Applies changes of the configuration file until `signal` aborts. Resolves once it watches. Changes are noticed
 * however they are made: written in place, renamed over, deleted and created, or by changing a link anywhere on the
 * way (fault 90). Several changes in quick succession are read once, after the last (fault 89). A file that cannot be
 * used is refused and the old configuration stays (fault 87). The other files that change it are watched as well.
 */
export async function watchConfig(options: WatchOptions): Promise<void> {
  const { signal, file } = options;
  const inspection = createInspection(options);
  const timing = createTiming(async () => {
    const isUsable = await inspection.look();
    await places.follow();
    timing.recheck(!isUsable || places.isBlind);
  }, signal);
  const files = () => [file, ...(inspection.inForce().watched ?? [])];
  const places = await watchPlaces({ files, onEvent: timing.trigger, signal });
  // The file may have changed between the first reading and now.
  timing.trigger();
}

interface Inspection {
  /** Reads the file once. Resolves to true when it can be used, whether or not it changed. */
  look(): Promise<boolean>;
  inForce(): Config;
}

function createInspection({ current, load, onApplied, onRefused, onMended }: WatchOptions): Inspection {
  let inForce = current;
  let lastRefusal: string | undefined;
  return {
    inForce: () => inForce,
    async look() {
      try {
        const next = await load();
        const isSame = isSameConfig(inForce, next);
        inForce = next;
        if (!isSame) await onApplied(next);
        const wasRefused = lastRefusal !== undefined;
        lastRefusal = undefined;
        if (wasRefused) onMended();
        return true;
      } catch (error) {
        const refusal = toGatewayError(error);
        if (refusal.message !== lastRefusal) onRefused(refusal);
        lastRefusal = refusal.message;
        return false;
      }
    },
  };
}

/** Runs `look` after each burst of triggers, never twice at once, and never after the abort. */
function createTiming(look: () => Promise<void>, signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  let rechecking: NodeJS.Timeout | undefined;
  let firstMs: number | undefined;
  let state: "idle" | "looking" | "look-again" = "idle";

  signal.addEventListener("abort", () => [timer, rechecking].forEach(clearTimeout), { once: true });

  async function settle(): Promise<void> {
    firstMs = undefined;
    if (state !== "idle") {
      state = "look-again";
      return;
    }
    try {
      do {
        state = "looking";
        await look();
      } while (wasAskedAgain() && !signal.aborted);
    } catch {
      // A callback of the caller threw. The next attempt may succeed, and the gateway must not end because of it.
      recheck(true);
    } finally {
      state = "idle";
    }
  }

  /** A function of its own, because the compiler does not see that the state changes while `look` is awaited. */
  function wasAskedAgain(): boolean {
    return state === "look-again";
  }

  function trigger(): void {
    if (signal.aborted) return;
    const nowMs = performance.now();
    firstMs ??= nowMs;
    clearTimeout(timer);
    timer = setTimeout(() => void settle(), Math.min(quietMs, Math.max(0, firstMs + longestWaitMs - nowMs)));
  }

  function recheck(isNeeded: boolean): void {
    clearTimeout(rechecking);
    if (isNeeded && !signal.aborted) rechecking = setTimeout(trigger, recheckMs).unref();
  }

  return { trigger, recheck };
}

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
async function watchPlaces({ files, onEvent, signal }: PlacesOptions): Promise<WatchedPlaces> {
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

/** Whether two configurations mean the same, wherever they came from. */
function isSameConfig(a: Config, b: Config): boolean {
  return (
    isDeepStrictEqual(a.servers, b.servers) &&
    isDeepStrictEqual(a.settings, b.settings) &&
    isDeepStrictEqual(a.people, b.people) &&
    isDeepStrictEqual(a.warnings, b.warnings)
  );
}
