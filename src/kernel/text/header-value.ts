const sentinelStart = "=?base64?";
const sentinelEnd = "?=";

/** Visible ASCII, with spaces and tabs inside but not at the ends. */
const plainValue = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const headerToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;

/**
 * Encodes a value for `Mcp-Name` and `Mcp-Param-*` (2026-07-28, streamable-http, value encoding): plain ASCII stays
 * as it is, anything else becomes its UTF-8 in base64 between the sentinels. No value can break out of the header
 * (fault 46).
 */
export function encodeHeaderValue(value: string): string {
  const isSentinel = value.startsWith(sentinelStart) && value.endsWith(sentinelEnd);
  if (!isSentinel && plainValue.test(value)) return value;
  return `${sentinelStart}${Buffer.from(value, "utf8").toString("base64")}${sentinelEnd}`;
}

// oxlint-disable-next-line no-control-regex -- what may not stand in a header
const unsafeValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether a value may stand in a header unencoded (RFC 9110, section 5.5). */
export function isHeaderValue(value: string): boolean {
  return !unsafeValue.test(value);
}

/** Whether a name is a header name (RFC 9110, section 5.6.2) of at most 256 characters. */
export function isHeaderName(name: string): boolean {
  return headerToken.test(name);
}

/** The Authorization header for the user and password of a URL (RFC 7617); undefined when the URL has none. */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`, "utf8").toString("base64")}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
