import { isServerSlug, type ServerSlug } from "../../kernel/ids.ts";

/**
 * How the resources of many servers are told apart (docs/design.md, "Resource addresses"). The four tools write
 * `server|originalUri`. Native lists, `flat`, and links inside results need valid URIs: `ui://{server}/{what followed
 * ui://}` for UI resources, `skill://{server}/{what followed skill://}` for files of skills, otherwise
 * `toolyard://{server}/{percent-encoded}`. A slug contains neither `|` nor `/`, so what follows it is exactly the
 * original.
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
/** Schemes that clients look for, and in which the server's slug is the first segment of the path. */
const keptSchemes = ["ui://", "skill://"] as const;

/** The form `server|uri`, which the four tools write. */
export function toPipeUri(server: ServerSlug, uri: string): string {
  return `${server}|${uri}`;
}

/** The form that is a valid URI, for native lists and links inside results. */
export function toNativeUri(server: ServerSlug, uri: string): string {
  return withSlug(server, uri) ?? `toolyard://${server}/${encode(uri)}`;
}

/**
 * The same for a file of a skill. Its path stays readable whatever its scheme, because hosts take a skill's name from
 * the last segment but one, and resolve what its SKILL.md refers to against its folder (SEP-2640, resource mapping).
 */
export function toSkillUri(server: ServerSlug, uri: string): string {
  return withSlug(server, uri) ?? toRawUri(server, uri);
}

/** The form in which nothing of the server's URI is encoded. */
export function toRawUri(server: ServerSlug, uri: string): string {
  return `toolyard://${server}/${raw}${uri}`;
}

function withSlug(server: ServerSlug, uri: string): string | undefined {
  const scheme = keptSchemes.find((kept) => uri.startsWith(kept));
  return scheme === undefined ? undefined : `${scheme}${server}/${uri.slice(scheme.length)}`;
}

/** Filled in, it becomes what the server's own template would have become, behind the same prefix. */
export function toNativeTemplate(server: ServerSlug, template: string): string {
  return withSlug(server, template) ?? toRawUri(server, template);
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
  for (const scheme of ["toolyard://", ...keptSchemes] as const) {
    if (!text.startsWith(scheme)) continue;
    const slash = text.indexOf("/", scheme.length);
    const server = slash === -1 ? "" : text.slice(scheme.length, slash);
    if (!isServerSlug(server)) return undefined;
    const rest = text.slice(slash + 1);
    if (scheme !== "toolyard://") return { server, uri: scheme + rest };
    const uri = rest.startsWith(raw) ? rest.slice(raw.length) : decode(rest);
    return uri === undefined ? undefined : { server, uri };
  }
  return undefined;
}

/** Whether an address is written in the form of {@link toRawUri}. */
export function isRawUri(text: string): boolean {
  return rawForm.test(text);
}

const rawForm = /^toolyard:\/\/[^/]+\/raw\//;

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
