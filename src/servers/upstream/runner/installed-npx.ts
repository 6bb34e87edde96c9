import { readFileSync, readlinkSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StdioTransport } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { readDescendants } from "../../process/process-table.ts";
import type { NpxFolders } from "./npm-cache.ts";
import { npxFolderName, npxFormOf, type NpxForm } from "./npx-form.ts";

/**
 * What npx started, to be started again without npx: it asks the registry each time, for seconds, and stays in memory
 * beside the server. Known from the running process itself, so that program, arguments and variables are what npx
 * gave it. Kept in memory only: the variables may hold secrets.
 */
export interface InstalledNpx {
  /** Notes what npx has started as a descendant of `pid`. Nothing is noted where it is not quite what was expected. */
  note(transport: StdioTransport, pid: number, folders: NpxFolders): Promise<void>;
  /** The same server without npx; undefined when it is not known, too old, or no longer as it was. */
  find(transport: StdioTransport): Promise<StdioTransport | undefined>;
  forget(transport: StdioTransport): void;
}

/** A range or tag may mean a newer version by then, which npx finds. */
const goodForMs = 86_400_000;
/** Far more than a gateway has servers; the oldest is forgotten first. */
const mostKnown = 1_000;

interface Known {
  readonly direct: StdioTransport;
  readonly notedAtMs: number;
  readonly stamp: string;
  readonly places: Places;
}

/** What must be as it was. */
interface Places {
  /** npm writes it anew whenever it installs into the folder. */
  readonly lock: string;
  readonly program: string;
}

export function createInstalledNpx(clock: Pick<Clock, "now">): InstalledNpx {
  const known = new Map<string, Known>();

  return {
    async note(transport, pid, folders) {
      const form = npxFormOf(transport);
      const started = form && findStarted(pid, form, folders);
      if (started === undefined) return;
      const places = { lock: join(started.folder, "node_modules", ".package-lock.json"), program: started.program };
      const stamp = await stampOf(places);
      if (stamp === undefined) return;
      const { command, args, env } = started;
      const [oldest] = known.keys();
      if (known.size >= mostKnown && oldest !== undefined) known.delete(oldest);
      known.set(keyOf(transport), {
        direct: { ...transport, command, args, env },
        notedAtMs: clock.now(),
        stamp,
        places,
      });
    },
    async find(transport) {
      const found = known.get(keyOf(transport));
      if (found === undefined) return undefined;
      const ageMs = clock.now() - found.notedAtMs;
      if (ageMs >= 0 && ageMs < goodForMs && (await stampOf(found.places)) === found.stamp) return found.direct;
      known.delete(keyOf(transport));
      return undefined;
    },
    forget: (transport) => void known.delete(keyOf(transport)),
  };
}

/** Two servers that differ in anything are two: variables choose registry, cache and settings of npm. */
function keyOf({ command, args, env, cwd }: StdioTransport): string {
  return JSON.stringify([command, args, env, cwd]);
}

async function stampOf({ lock, program }: Places): Promise<string | undefined> {
  try {
    const [{ mtimeMs, size, ino }, target] = await Promise.all([stat(lock), realpath(program)]);
    return [mtimeMs, size, ino, target].join(" ");
  } catch {
    return undefined;
  }
}

interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly program: string;
}

/**
 * The process that runs a program of the specification's own folder, with exactly the arguments of the configuration.
 */
function findStarted(pid: number, form: NpxForm, { names }: NpxFolders): Started | undefined {
  for (const descendant of process.platform === "linux" ? (readDescendants(pid) ?? []) : []) {
    for (const name of names) {
      const started = lookAt(descendant, form, join(name, npxFolderName(form.specification)));
      if (started !== undefined) return started;
    }
  }
  return undefined;
}

function lookAt(pid: number, form: NpxForm, folder: string): Started | undefined {
  try {
    const argv = readList(pid, "cmdline");
    const place = argv.length - form.args.length - 1;
    const program = argv[place] ?? "";
    const isIt = place > 0 && form.args.every((arg, index) => argv[place + 1 + index] === arg);
    if (!isIt || !program.startsWith(join(folder, "node_modules", "/"))) return undefined;
    const env = readList(pid, "environ").map((entry): [string, string] => {
      const end = entry.indexOf("=", 1);
      return [entry.slice(0, end), entry.slice(end + 1)];
    });
    const command = readlinkSync(`/proc/${pid}/exe`);
    // A program that was replaced while it ran.
    if (command.endsWith(" (deleted)")) return undefined;
    return { command, args: argv.slice(1), env: Object.fromEntries(env), folder, program };
  } catch {
    return undefined;
  }
}

/** Throws for text that is not UTF-8, which could not be passed on as it was. */
function readList(pid: number, name: "cmdline" | "environ"): readonly string[] {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(`/proc/${pid}/${name}`));
  return text.split("\0").slice(0, -1);
}
