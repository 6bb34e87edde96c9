import { isIP } from "node:net";
import { domainToASCII, pathToFileURL } from "node:url";
import * as v from "valibot";
import { resolve } from "node:path";

/**
 * A host name of the gateway, as people copy it from a message or an address bar, with or without a port, which is
 * ignored. Converted to what a Host header has: lower case, no port, brackets around IPv6. `*` is every host.
 */
export const hostName = v.pipe(
  v.string(),
  v.transform((written) => toHost(written.trim()) ?? ""),
  v.nonEmpty('expected a host name or address, with or without a port, such as "tools.example.com"; or "*"'),
);

/** An origin as browsers send it. `*` is every site; `null` is sent where there is no origin. */
export const webOrigin = v.pipe(
  v.string(),
  v.transform((written) => toOrigin(written.trim()) ?? ""),
  v.nonEmpty('expected an origin as browsers send it, such as "https://app.example.com"; or "*"'),
);

/**
 * The address at which clients reach the gateway: scheme, host and, where a proxy serves it below a path, that path.
 * Converted to the beginning of a URL: no slash at the end, and without the scheme's default port.
 */
export const publicAddress = v.pipe(
  v.string(),
  v.transform((written) => toPublicAddress(written.trim()) ?? ""),
  v.nonEmpty(
    "expected an absolute URL with http or https, a path if there is one, and nothing behind it, such as " +
      '"https://tools.example.com"',
  ),
);

/** An address, or a range of them in CIDR notation. */
export const addressRange = v.pipe(
  v.string(),
  v.transform((written) => written.trim()),
  v.check(isRange, 'expected an IP address or a range of them, such as "10.0.0.7" or "10.0.0.0/8"'),
);

/** An IP address without the brackets that URLs put around IPv6, as sockets need it. */
export function withoutBrackets(host: string): string {
  return /^\[[^\]]*\]$/.test(host) ? host.slice(1, -1) : host;
}

function toHost(written: string): string | undefined {
  if (written === "*") return written;
  if (/^[0-9a-f.]*(:[0-9a-f.]*){2,}$/i.test(written)) return `[${written.toLowerCase()}]`;
  const name = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]%*,]+)(?::\d{1,5})?$/i.exec(written)?.[1];
  return name?.startsWith("[") ? name.toLowerCase() : name && toAscii(name);
}

/**
 * Browsers leave out a scheme's default port and write names in ASCII. A URL with a path is a page, not an origin.
 */
function toOrigin(written: string): string | undefined {
  if (written === "*" || written === "null") return written;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/\\?#@]+\/?$/i.test(written) || !URL.canParse(written)) return undefined;
  const { origin } = new URL(written);
  return origin === "null" ? written.toLowerCase().replace(/\/$/, "") : origin;
}

/**
 * An address with a query, a fragment or a user is refused, because it would not have the effect its author expects.
 */
function toPublicAddress(written: string): string | undefined {
  if (!/^https?:\/\/[^/\s]/i.test(written) || /[\s?#@\\]/.test(written) || !URL.canParse(written)) return undefined;
  const { origin, pathname } = new URL(written);
  return /\/\/|["<>]/.test(pathname) ? undefined : `${origin}${pathname.replace(/\/$/, "")}`;
}

function isRange(written: string): boolean {
  const [address = "", bits, ...more] = written.split("/");
  const version = isIP(address);
  if (version === 0 || address.includes("%") || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Domain names contain no underscore, but names of containers often do. */
function toAscii(name: string): string {
  return /^[a-z0-9._-]+$/i.test(name) ? name.toLowerCase() : domainToASCII(name);
}

export const webUrl = v.pipe(
  v.string(),
  v.check(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
    "expected an absolute http:// or https:// URL",
  ),
);

export const postgresUrl = v.pipe(
  v.string(),
  v.trim(),
  v.check(
    (url) => URL.canParse(url) && /^postgres(?:ql)?:$/.test(new URL(url).protocol),
    "expected postgres://user:password@host:port/database",
  ),
);

/**
 * A root in the protocol's form, a `file:` URI (2026-07-28, client/roots). A relative path starts at the
 * configuration file's folder, `~` is the home directory. Undefined for a URI of another scheme.
 */
export function toRootUri(
  written: string,
  { directory, home }: { readonly directory: string; readonly home: string | undefined },
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written))
    return /^file:/i.test(written) && URL.canParse(written) ? written : undefined;
  const path = home !== undefined && /^~(?=$|[/\\])/.test(written) ? `${home}${written.slice(1)}` : written;
  return pathToFileURL(resolve(directory, path)).href;
}
