import { isServerSlug, type ServerSlug } from "../../kernel/ids.ts";

/**
 * How the resources of many servers are told apart (docs/design.md, "Resource addresses"). The four tools write
 * `server|originalUri`. Native lists, `flat`, and links inside results need valid URIs: `ui://{server}/{what followed
 * ui://}` for UI resources, otherwise `toolyard://{server}/{percent-encoded}`. A slug contains neither `|` nor `/`,
 * so what follows it is exactly the original.
 *
 * A template follows `toolyard://{server}/raw/` unchanged: clients percent-encode the values that they fill in, so
 * nothing there may be decoded. The two forms cannot be confused, because percent-encoded text contains no `/`.
 */
export interface ResourceAddress {
  readonly server: ServerSlug;
  /** The server's own URI. */
  readonly uri: string;
}

const raw = "raw/";

/** The form `server|uri`, which the four tools write. */
export function toPipeUri(server: ServerSlug, uri: string): string {
  return `${server}|${uri}`;
}

/** The form that is a valid URI, for native lists and links inside results. */
export function toNativeUri(server: ServerSlug, uri: string): string {
  return uri.startsWith("ui://")
    ? `ui://${server}/${uri.slice("ui://".length)}`
    : `toolyard://${server}/${encode(uri)}`;
}

/** Filled in, it becomes what the server's own template would have become, behind the same prefix. */
export function toNativeTemplate(server: ServerSlug, template: string): string {
  return template.startsWith("ui://") ? toNativeUri(server, template) : `toolyard://${server}/${raw}${template}`;
}

/**
 * Reads every form that is given out anywhere. Undefined for anything else. Whether the server exists is for the
 * caller to check.
 */
export function parseResourceUri(text: string): ResourceAddress | undefined {
  const pipe = text.indexOf("|");
  if (pipe > 0) {
    const server = text.slice(0, pipe);
    if (isServerSlug(server)) return { server, uri: text.slice(pipe + 1) };
  }
  for (const scheme of ["toolyard://", "ui://"] as const) {
    if (!text.startsWith(scheme)) continue;
    const slash = text.indexOf("/", scheme.length);
    const server = slash === -1 ? "" : text.slice(scheme.length, slash);
    if (!isServerSlug(server)) return undefined;
    const rest = text.slice(slash + 1);
    const uri = scheme === "ui://" ? `ui://${rest}` : rest.startsWith(raw) ? rest.slice(raw.length) : decode(rest);
    return uri === undefined ? undefined : { server, uri };
  }
  return undefined;
}

/**
 * Half a surrogate pair has no UTF-8 form and makes encodeURIComponent throw. One such URI must not break a whole
 * list.
 */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD"));
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
