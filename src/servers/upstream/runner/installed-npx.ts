import { readFileSync, readlinkSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { StdioTransport } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { readDescendants } from "../../process/process-table.ts";
import { type NpxFolders, npxFolderName, npxFormOf, type NpxForm } from "./npx-form.ts";

/**
 * Remembers programs that npx started, so that they can be started again without npx, which asks the registry each
 * time, for seconds, and stays in memory beside the server. Program, arguments and variables are read from the
 * running process, so they are exactly what npx gave it. They are kept in memory only, because the variables may be
 * secrets.
 */
export interface InstalledNpx {
  /**
   * Remembers what npx started as a descendant of `pid`. Nothing is remembered when that does not look exactly as
   * expected.
   */
  note(transport: StdioTransport, pid: number, folders: NpxFolders): Promise<void>;
  /**
   * How to start the same server without npx; undefined when it is not known, was seen too long ago, or was changed.
   */
  find(transport: StdioTransport): Promise<StdioTransport | undefined>;
  /** Forgets the server, so that npx starts it the next time. */
  forget(transport: StdioTransport): void;
}

/** After this time npx is used again: a range or tag may mean a newer version by then. */
const goodForMs = 86_400_000;
/** Far more servers than a gateway has; beyond it the oldest is forgotten. */
const mostKnown = 1_000;

interface Known {
  readonly direct: StdioTransport;
  readonly notedAtMs: number;
  readonly stamp: string;
  readonly places: Places;
}

/** Files that must be unchanged. */
interface Places {
  /** npm rewrites this file with every install into the folder. */
  readonly lock: string;
  readonly program: string;
}

/** Remembers nothing at first. */
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

/** Servers that differ in anything are different, because variables determine npm's registry, cache and settings. */
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

/** Finds the process that runs a program from the specification's own folder with exactly the configured arguments. */
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
    // The program was replaced while it was running.
    if (command.endsWith(" (deleted)")) return undefined;
    return { command, args: argv.slice(1), env: Object.fromEntries(env), folder, program };
  } catch {
    return undefined;
  }
}

/** Throws for text that is not UTF-8, because it could not be passed on unchanged. */
function readList(pid: number, name: "cmdline" | "environ"): readonly string[] {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(`/proc/${pid}/${name}`));
  return text.split("\0").slice(0, -1);
}
