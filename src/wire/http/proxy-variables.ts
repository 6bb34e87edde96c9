import { isIPv4 } from "node:net";

/** Environment variables; unset ones are undefined. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The URL of the proxy to use for `url`, from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, which are read as curl
 * reads them: the lower-case form takes precedence, and each proxy variable applies to its own scheme. Undefined for
 * addresses of this machine, whatever `NO_PROXY` says, because a proxy elsewhere could not reach them.
 */
export function proxyFromVariables(url: URL, variables: Variables): string | undefined {
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const proxy = variableOf(name, variables);
  if (proxy === undefined) return undefined;
  if (isExcepted(url, variables)) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** Whether a URL is reached without a proxy, whichever is named: it is on this machine, or `NO_PROXY` covers it. */
export function isExcepted(url: URL, variables: Variables): boolean {
  return isThisMachine(url.hostname) || isCovered(url, variables);
}

/**
 * The variable that names a proxy for a URL of this machine, for programs that do not leave these alone. Undefined
 * where `NO_PROXY` does, and for other machines.
 */
export function proxyBefore(url: URL, variables: Variables): string | undefined {
  if (!isThisMachine(url.hostname) || isCovered(url, variables)) return undefined;
  const scheme = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  return [scheme, scheme.toUpperCase(), "all_proxy", "ALL_PROXY"].find((name) => variables[name]);
}

function isCovered(url: URL, variables: Variables): boolean {
  const exceptions = variableOf("no_proxy", variables) ?? "";
  return exceptions.split(/[\s,]+/).some((entry) => covers(entry, url));
}

function variableOf(name: string, variables: Variables): string | undefined {
  return [variables[name], variables[name.toUpperCase()]].find((value) => value !== undefined && value !== "");
}

function isThisMachine(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    (isIPv4(hostname) && hostname.startsWith("127."))
  );
}

/**
 * Whether an entry of NO_PROXY matches the URL. An entry is `*`, or a host with an optional port, which also covers all
 * hosts below it (`example.com`, `.example.com`, `*.example.com`).
 */
function covers(entry: string, url: URL): boolean {
  if (entry === "*") return true;
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  const plain = host.replace(/^\*?\./, "");
  if (plain === "" || (port !== undefined && port !== portOf(url))) return false;
  const name = url.hostname.replace(/^\[|\]$/g, "");
  return name === plain.replace(/^\[|\]$/g, "") || name.endsWith(`.${plain}`);
}

function portOf(url: URL): string {
  return url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
}
