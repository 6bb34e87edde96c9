import { readdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { SandboxRules, StdioTransport } from "../../config/config.ts";
import { isWide, isWithin } from "../../config/words/wide-places.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { guardedPlaces, isTooWide, whyNotWritable, type GuardedPlaces, type OwnPlaces } from "./guarded-places.ts";
import {
  findProgram,
  innerHome,
  kindOf,
  neededBy,
  systemFolders,
  type ProgramPlaces,
  type ProgramSearch,
} from "./program-places.ts";

/** A process that is to be confined. */
export type ConfinedProcess = Omit<StdioTransport, "sandbox" | "kind" | "env"> & { readonly sandbox: SandboxRules };

/** A file or folder of this machine that the server sees. */
export interface VisiblePlace {
  /** Where the server sees it. */
  readonly target: string;
  /** What it is, without links. */
  readonly source: string;
  readonly isWritable: boolean;
}

/** All that a server sees of the disk beside the system's programs, and what was left out. */
export interface SandboxPlan {
  /** Absolute; undefined where the command is found nowhere. */
  readonly command: string | undefined;
  readonly visible: readonly VisiblePlace[];
  /** Hidden again, within visible places. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Why something that the entry names cannot be seen, one sentence each. */
  readonly notes: readonly string[];
}

/** Arguments that are looked up; each costs a look at the disk. */
const mostArguments = 200;

const real = async (path: string): Promise<string | undefined> => await realpath(path).catch(() => undefined);

/**
 * Decides what the process sees. Every link is followed once, here; the place that it led to is bound. Rejects with
 * SANDBOX_REFUSED where `write` or `read` covers what no server may have.
 */
export async function planSandbox(
  wanted: ConfinedProcess,
  env: Readonly<Record<string, string>>,
  own: OwnPlaces,
): Promise<SandboxPlan> {
  const guarded = await guardedPlaces(own, real);
  const { sandbox, cwd } = wanted;
  const notes: string[] = [];
  const about = { guarded, home: own.home, notes };
  const writable = await writablePlaces(sandbox, about);
  const readable = await readablePlaces(sandbox, about);
  const program = await findCommand(wanted, { path: env["PATH"] ?? "", home: own.home });
  const implied = [...program.needs, ...sandbox.roots, ...(await neededByArguments(wanted, own))];
  if (own.configFile === undefined || cwd !== dirname(own.configFile)) implied.push(cwd);
  const visible = [...writable, ...readable, ...(await impliedPlaces(implied, { guarded, own, writable, notes }))];
  return {
    command: program.file,
    visible: withoutCovered(visible),
    hidden: await hiddenWithin(visible, guarded, sandbox.read),
    notes,
  };
}

/** A command without a folder is the image's, where there is one. */
async function findCommand(
  { command, cwd, sandbox }: ConfinedProcess,
  search: Omit<ProgramSearch, "cwd">,
): Promise<ProgramPlaces> {
  const ofImage = { file: command, needs: [] };
  if (sandbox.image !== undefined && !command.includes("/")) return ofImage;
  const found = await findProgram(command, { ...search, cwd });
  return found.file === undefined && sandbox.image !== undefined ? ofImage : found;
}

interface About {
  readonly guarded: GuardedPlaces;
  readonly home: string | undefined;
  readonly notes: string[];
}

async function writablePlaces({ write }: SandboxRules, about: About) {
  return await places(write, about, (path, source) => {
    const why = whyNotWritable(source, about.guarded) ?? whyNotWritable(path, about.guarded);
    if (why !== undefined) throw refused(`sandbox.write names ${path}, and ${why}`);
    return true;
  });
}

async function readablePlaces({ read }: SandboxRules, about: About) {
  return await places(read, about, (path, source) => {
    const place = about.guarded.own.find((one) => isWithin(source, one));
    if (place !== undefined)
      throw refused(`sandbox.read names ${path}, which lies within ${place} and belongs to the gateway`);
    return false;
  });
}

async function places(
  paths: readonly string[],
  { guarded, home, notes }: About,
  check: (path: string, source: string) => boolean,
): Promise<readonly VisiblePlace[]> {
  const found = await Promise.all(
    paths.map(async (path): Promise<readonly VisiblePlace[]> => {
      const source = await real(path);
      const isWritable = source !== undefined && check(path, source);
      const isSecret = (one: string): boolean => guarded.secret.some((place) => isWithin(one, place));
      const isMoreThanNamed = (is: (one: string) => boolean): boolean =>
        source !== undefined && is(source) && !is(path);
      if (isMoreThanNamed(isSecret) || isMoreThanNamed((one) => isWide(one, home))) {
        notes.push(`${path} is a link to ${source}, which has to be named itself`);
        return [];
      }
      if (source === "/") return await wholeSystem(path);
      if (source !== undefined) return twice({ target: path, source, isWritable });
      notes.push(`${path} does not exist`);
      return [];
    }),
  );
  return found.flat();
}

/** What a sandbox has of its own is left out, as are sockets. */
const notOfSystem: readonly string[] = [...systemFolders, "/etc", "/proc", "/dev", "/sys", "/tmp", "/run", innerHome];

async function wholeSystem(target: string): Promise<readonly VisiblePlace[]> {
  const entries = await readdir("/", { withFileTypes: true });
  return entries.flatMap((entry) => {
    const source = `/${entry.name}`;
    if (!entry.isDirectory() || notOfSystem.includes(source)) return [];
    return [...new Set([source, join(target, entry.name)])].map((one) => ({ target: one, source, isWritable: false }));
  });
}

/** Under its own name too: a program that asks where it is gets that one. */
function twice(place: VisiblePlace): readonly VisiblePlace[] {
  return place.target === place.source ? [place] : [place, { ...place, target: place.source }];
}

function refused(message: string): GatewayError {
  return new GatewayError("SANDBOX_REFUSED", message);
}

async function neededByArguments({ args, cwd }: ConfinedProcess, { home }: OwnPlaces): Promise<readonly string[]> {
  const paths = args.slice(0, mostArguments).flatMap((arg) => {
    const value = arg.startsWith("-") ? /=(\/.*)$/s.exec(arg)?.[1] : arg;
    return value === undefined || value === "" || value.includes("\0") ? [] : [resolve(cwd, value)];
  });
  const found = await Promise.all(
    paths.map(async (path) => {
      const kind = await kindOf(path);
      return kind === undefined ? [] : kind === "folder" ? [path] : await neededBy(path, home);
    }),
  );
  return found.flat();
}

interface Implied {
  readonly guarded: GuardedPlaces;
  readonly own: OwnPlaces;
  readonly writable: readonly VisiblePlace[];
  readonly notes: string[];
}

/** What the entry does not name as such: read-only, and never more than it was meant to be. */
async function impliedPlaces(
  paths: readonly string[],
  { guarded, own, writable, notes }: Implied,
): Promise<readonly VisiblePlace[]> {
  const found = await Promise.all(
    [...new Set(paths)].map(async (path): Promise<readonly VisiblePlace[]> => {
      // The server itself could have put a link there, which would lead anywhere at its next start.
      if (writable.some(({ target }) => isWithin(path, target))) return [];
      const source = await real(path);
      if (source === undefined || [...systemFolders, "/etc", "/tmp"].includes(source)) return [];
      if (systemFolders.some((system) => isWithin(source, system))) return [];
      const isCareful = [...guarded.own, ...guarded.secret].some((place) => isWithin(source, place));
      if (isCareful || isTooWide(source, own.home)) {
        notes.push(`${path} is not visible only because the entry names it: add it to sandbox.read if that is meant`);
        return [];
      }
      return twice({ target: path, source, isWritable: false });
    }),
  );
  return found.flat();
}

/** Each target once; a writable place goes before a readable one. Within a visible folder nothing is repeated. */
function withoutCovered(visible: readonly VisiblePlace[]): readonly VisiblePlace[] {
  const byTarget = new Map<string, VisiblePlace>();
  for (const place of visible) if (byTarget.get(place.target)?.isWritable !== true) byTarget.set(place.target, place);
  const all = [...byTarget.values()].sort((a, b) => a.target.length - b.target.length);
  return all.filter(({ target, source, isWritable }, index) => {
    const outer = all.slice(0, index).findLast((other) => isWithin(target, other.target));
    if (outer === undefined) return true;
    // Through a link within the outer place: it is followed inside, to where the place is under its real name.
    if (join(outer.source, target.slice(outer.target.length)) !== source) return false;
    return outer.isWritable !== isWritable;
  });
}

/**
 * Guarded places that a wider place covers. What the entry names itself, or something within, stays visible; a link to
 * them names them only where it is in such a place: one in a folder of a project may be anybody's.
 */
async function hiddenWithin(
  visible: readonly VisiblePlace[],
  guarded: GuardedPlaces,
  read: readonly string[],
): Promise<SandboxPlan["hidden"]> {
  const meant = read.filter((path) => guarded.secret.some((place) => isWithin(path, place)));
  const named = [...meant, ...(await Promise.all(meant.map(real)))];
  const isNamed = (place: string): boolean => named.some((path) => path !== undefined && isWithin(path, place));
  const places = [...guarded.own, ...guarded.secret.filter((place) => !isNamed(place))];
  // A link is no place to mount at; where it leads is among the places too.
  const straight = (
    await Promise.all(places.map(async (place) => ((await real(place)) === place ? [place] : [])))
  ).flat();
  const hidden = straight.flatMap((place) =>
    visible.flatMap(({ target, source }) =>
      isWithin(place, source) ? [join(target, place.slice(source.length))] : [],
    ),
  );
  const kinds = await Promise.all([...new Set(hidden)].map(async (path) => ({ path, kind: await kindOf(path) })));
  return kinds.flatMap(({ path, kind }) =>
    kind !== undefined && isAbsolute(path) ? [{ path, isFolder: kind === "folder" }] : [],
  );
}
