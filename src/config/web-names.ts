import { domainToASCII } from "node:url";
import * as v from "valibot";

/**
 * A host of ours, as people copy it from a message or an address bar: with a port or without, which counts for nothing. Becomes what a
 * Host header has: lower case, no port, brackets around IPv6. `*` is every host.
 */
export const hostName = v.pipe(
  v.string(),
  v.transform((written) => toHost(written.trim()) ?? ""),
  v.nonEmpty('expected a host name or address, with or without a port, such as "tools.example.com"; or "*"'),
);

/** An origin as browsers send it. `*` is every site, `null` what has no origin. */
export const webOrigin = v.pipe(
  v.string(),
  v.transform((written) => toOrigin(written.trim()) ?? ""),
  v.nonEmpty('expected an origin as browsers send it, such as "https://app.example.com"; or "*"'),
);

/** The literal of an address of this machine without the brackets that a URL has around it, as a socket wants it. */
export function withoutBrackets(host: string): string {
  return /^\[[^\]]*\]$/.test(host) ? host.slice(1, -1) : host;
}

function toHost(written: string): string | undefined {
  if (written === "*") return written;
  if (/^[0-9a-f.]*(:[0-9a-f.]*){2,}$/i.test(written)) return `[${written.toLowerCase()}]`;
  const name = /^(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\]%*,]+)(?::\d{1,5})?$/i.exec(written)?.[1];
  return name?.startsWith("[") ? name.toLowerCase() : name && toAscii(name);
}

/** Browsers leave out a scheme's own port and write names in ASCII. What has a path is a page, not an origin. */
function toOrigin(written: string): string | undefined {
  if (written === "*" || written === "null") return written;
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/\\?#@]+\/?$/i.test(written) || !URL.canParse(written)) return undefined;
  const { origin } = new URL(written);
  return origin === "null" ? written.toLowerCase().replace(/\/$/, "") : origin;
}

/** An underscore is in no domain's name, but in many a container's. */
function toAscii(name: string): string {
  return /^[a-z0-9._-]+$/i.test(name) ? name.toLowerCase() : domainToASCII(name);
}
