import { dirname, sep } from "node:path";

/** Keys and logins below a home. */
export const secretNames: readonly string[] = [
  ...".ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .npmrc .pypirc .password-store .pki".split(" "),
  ...".config/gcloud .config/gh .config/op .config/toolyard .local/share/keyrings .mozilla .thunderbird".split(" "),
  ...".config/google-chrome .config/chromium .config/BraveSoftware .bash_history .zsh_history".split(" "),
];

/** Sockets, by which a process asks programs outside to act for it, and what the kernel shows as files. */
const machineFolders: readonly string[] = ["/run", "/var/run", "/proc", "/sys", "/dev"];

/** Whether `path` is `outer` or lies within it. Both are absolute. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}

/** Whether a path is the whole system, a folder of its root, or somebody's home as a whole. It is absolute. */
export function isWide(path: string, home: string | undefined): boolean {
  if (dirname(path) === "/" || (home !== undefined && isWithin(home, path))) return true;
  return ["/home", "/Users"].includes(dirname(path));
}

/** Whether a path is wide, or leads to keys and logins of a user, or to sockets. It is absolute, and without links. */
export function isWideOrPrivate(path: string, home: string | undefined): boolean {
  const isSecret = secretNames.some((name) => `${path}/`.includes(`/${name}/`));
  return isWide(path, home) || isSecret || machineFolders.some((folder) => isWithin(path, folder));
}
