/** Environment variables by name; one whose value is undefined is not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a stdio server: a short list of the gateway's own variables (places of programs and homes,
 * language, time zone, proxies, certificates), and then the variables from the configuration, which take precedence.
 *
 * No other variable of the gateway is passed on, because it may be a secret; a server that needs one has `"env": {
 * "NAME": "${NAME}" }`. For the same reason a proxy whose URL contains a user or password is not passed on.
 * `spawnTree` adds the marker of the process tree.
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
  // Such a value is a shell function that an old version of bash exported.
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

/** Windows treats `Path` and `PATH` as one variable; of two spellings, the one from the configuration counts. */
function mergeIgnoringCase(...lists: readonly (readonly (readonly [string, string])[])[]): Record<string, string> {
  const merged = new Map<string, readonly [string, string]>();
  for (const [name, value] of lists.flat()) merged.set(name.toUpperCase(), [name, value]);
  return Object.fromEntries(merged.values());
}
