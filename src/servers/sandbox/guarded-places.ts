import { dirname, join } from "node:path";
import { isWithin, secretNames } from "../../config/words/wide-places.ts";

/** What the gateway knows of its own places and the user's. Absolute paths. */
export interface OwnPlaces {
  readonly dataDir: string;
  /** The configuration file; undefined when there is none. */
  readonly configFile: string | undefined;
  readonly home: string | undefined;
}

/** Places that need care, each as it is written and with links followed. */
export interface GuardedPlaces {
  /** The gateway's own: no server sees them, whatever its entry says. */
  readonly own: readonly string[];
  /** Keys and logins of the user, and sockets of other programs: seen only where an entry names them. */
  readonly secret: readonly string[];
  /** What starts programs, or belongs to the system: read by name, never written. */
  readonly unwritable: readonly string[];
}

const startNames: readonly string[] = [
  ...".bashrc .bash_profile .bash_login .bash_logout .profile .inputrc .pam_environment".split(" "),
  ...".zshrc .zshenv .zprofile .zlogin .zlogout .xinitrc .xprofile .xsession .gitconfig".split(" "),
  ...".config/fish .config/autostart .config/systemd .config/environment.d .config/git .local/bin".split(" "),
];

const systemFolders: readonly string[] = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys"];
/** Sockets: docker, D-Bus, and others by which a process asks programs outside to act for it. */
const socketFolders: readonly string[] = ["/run", "/var/run"];

/** `resolve` follows links, and gives undefined for what does not exist. */
export async function guardedPlaces(
  { dataDir, configFile, home }: OwnPlaces,
  resolve: (path: string) => Promise<string | undefined>,
): Promise<GuardedPlaces> {
  const both = async (paths: readonly string[]): Promise<readonly string[]> => {
    const real = await Promise.all(paths.map(resolve));
    return [...new Set([...paths, ...real.filter((path) => path !== undefined)])];
  };
  const below = (names: readonly string[]) => (home === undefined ? [] : names.map((name) => join(home, name)));
  const config = configFile === undefined ? [] : [configFile, `${configFile}.bak`];
  return {
    own: await both([dataDir, ...config]),
    secret: await both([...below(secretNames), ...socketFolders]),
    unwritable: await both([...below(startNames), ...systemFolders, "/usr", "/var/spool"]),
  };
}

/** Why a folder must not be written to, as the end of a sentence; undefined where it may. `path` has no links. */
export function whyNotWritable(path: string, places: GuardedPlaces): string | undefined {
  const touches = (place: string): boolean => isWithin(path, place) || isWithin(place, path);
  const own = places.own.find(touches);
  if (own !== undefined) return `it would cover ${own}, which belongs to the gateway`;
  const other = [...places.secret, ...places.unwritable].find(touches);
  return other === undefined ? undefined : `it would cover ${other}`;
}

/** Whether a path is too wide to be seen only because an argument names it: the whole system, or all homes. */
export function isTooWide(path: string, home: string | undefined): boolean {
  return path === "/" || (home !== undefined && isWithin(dirname(home), path));
}
