const sentinelStart = "=?base64?";
const sentinelEnd = "?=";

/** Visible ASCII with spaces and tabs inside, none at the ends. */
const plainValue = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const headerToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;

/**
 * A value as it may stand in `Mcp-Name` and `Mcp-Param-*` (2026-07-28, streamable-http, value encoding): as it is
 * when it is plain ASCII, otherwise its UTF-8 in base64 between the sentinels. Nothing can break out of the header
 * (fault 46).
 */
export function encodeHeaderValue(value: string): string {
  const isSentinel = value.startsWith(sentinelStart) && value.endsWith(sentinelEnd);
  if (!isSentinel && plainValue.test(value)) return value;
  return `${sentinelStart}${Buffer.from(value, "utf8").toString("base64")}${sentinelEnd}`;
}

// oxlint-disable-next-line no-control-regex -- what may not stand in a header
const unsafeValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether it may be sent as it is (RFC 9110, section 5.5). */
export function isHeaderValue(value: string): boolean {
  return !unsafeValue.test(value);
}

export function isHeaderName(name: string): boolean {
  return headerToken.test(name);
}
