/** Variables by name; undefined ones do not exist. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment that a stdio server gets: a short list of the gateway's own variables (where programs and homes
 * are, language, time zone, proxies, certificates), then what the configuration gives, which wins. Everything else of
 * ours stays here, because it may be a secret: a server that needs more says `"env": { "NAME": "${NAME}" }`. A proxy
 * whose URL holds a user or password is not passed on for the same reason. The marker of the process tree is added by
 * `spawnTree`.
 */
export function childEnvironment(
  own: Environment,
  given: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const inherited = Object.entries(own).filter((entry): entry is [string, string] =>
    isPassedOn(entry[0], entry[1], platform),
  );
  return platform === "win32"
    ? mergeIgnoringCase(inherited, Object.entries(given))
    : { ...Object.fromEntries(inherited), ...given };
}

function isPassedOn(name: string, value: string | undefined, platform: NodeJS.Platform): boolean {
  // A value that begins so is a function that an old shell exported.
  if (value === undefined || value.startsWith("()")) return false;
  if (proxyNames.includes(name.toLowerCase())) return !holdsCredentials(value);
  if (platform === "win32") return windowsNames.includes(name.toUpperCase());
  return posixNames.includes(name) || name.startsWith("LC_");
}

const certificateNames: readonly string[] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

const posixNames: readonly string[] = [
  ..."PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR".split(" "),
  ..."XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR".split(" "),
  ...certificateNames,
];

const windowsNames: readonly string[] = [
  ..."PATH PATHEXT COMSPEC SYSTEMROOT SYSTEMDRIVE WINDIR TEMP TMP TZ".split(" "),
  ..."USERNAME USERDOMAIN USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PUBLIC".split(" "),
  ..."PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES".split(" "),
  ..."PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS OS".split(" "),
  ...certificateNames,
];

const proxyNames: readonly string[] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];

function holdsCredentials(url: string): boolean {
  return url.includes("@");
}

/** Windows takes `Path` and `PATH` for one variable; of two spellings the configuration's wins. */
function mergeIgnoringCase(...lists: readonly (readonly (readonly [string, string])[])[]): Record<string, string> {
  const merged = new Map<string, readonly [string, string]>();
  for (const [name, value] of lists.flat()) merged.set(name.toUpperCase(), [name, value]);
  return Object.fromEntries(merged.values());
}
