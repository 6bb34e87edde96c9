/** What of a kept result is asked for: one of its parts, or its lines that hold a text, from a line on. */
export type KeptPage =
  | { readonly kind: "part"; readonly part: number }
  | { readonly kind: "match"; readonly text: string; readonly fromLine: number };

const prefix = "toolyard://result/";
/**
 * 128 random bits, behind the name of the node of a cluster that keeps it. No server's resource is written like this:
 * what follows its name is a percent-encoded URI.
 */
const idPattern = /^(?:[A-Za-z0-9._-]{1,64}\.)?[A-Za-z0-9_-]{22}$/;

/** Where the rest of a result is read that was cut for being too large: `toolyard://result/{id}`. */
export function toKeptUri(id: string, page?: KeptPage): string {
  if (page === undefined) return prefix + id;
  if (page.kind === "part") return `${prefix}${id}?part=${page.part}`;
  const from = page.fromLine > 1 ? `&line=${page.fromLine}` : "";
  return `${prefix}${id}?match=${encodeURIComponent(page.text)}${from}`;
}

/**
 * Reads such a URI; undefined for every other. A part or line that is no number from 1 on counts as 1: a URI written by
 * hand gets an answer rather than an error.
 */
export function parseKeptUri(uri: string): { readonly id: string; readonly page: KeptPage } | undefined {
  if (!uri.startsWith(prefix)) return undefined;
  const query = uri.indexOf("?");
  const id = uri.slice(prefix.length, query === -1 ? undefined : query);
  if (!idPattern.test(id)) return undefined;
  const asked = new URLSearchParams(query === -1 ? "" : uri.slice(query + 1));
  const text = asked.get("match");
  if (text !== null && text !== "")
    return { id, page: { kind: "match", text, fromLine: countFrom(asked.get("line")) } };
  return { id, page: { kind: "part", part: countFrom(asked.get("part")) } };
}

function countFrom(text: string | null): number {
  return text !== null && /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : 1;
}
