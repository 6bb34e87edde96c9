/**
 * Identifiers are checked and branded once, where they are read (config, catalog); code that gets a branded one
 * relies on it.
 */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** A server's key in the configuration, with unsuitable characters replaced: `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`. */
export type ServerSlug = Branded<string, "ServerSlug">;
/** One server as it runs for one principal, or for all. Unique for the life of the gateway. */
export type InstanceId = Branded<string, "InstanceId">;
/** The id of a principal; a person's key in the configuration, or `local`. */
export type PrincipalId = Branded<string, "PrincipalId">;
/** A tool's name in paths, as clients see it: `server:tool`. */
export type ToolPath = Branded<string, "ToolPath">;

/** What a slug must match. */
export const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Whether a text can be a slug. */
export function isServerSlug(text: string): text is ServerSlug {
  return slugPattern.test(text);
}

/** A server's key with what no slug may have replaced. May be no slug even so: empty, for instance. */
export function replacedForSlug(key: string): string {
  return key
    .normalize("NFC")
    .slice(0, 256)
    .replace(/[^A-Za-z0-9._-]+/gu, "-")
    .replace(/^[._-]+|-+$/g, "")
    .slice(0, 63);
}

/** The id of something that one node of a cluster keeps, by which any other finds it; a gateway alone has no name. */
export function heldId(node: string | undefined, own: string): string {
  return node === undefined ? own : `${node}.${own}`;
}

/** Splits an id of something that one node of a cluster keeps: `{node}.{random}`, where a node's name may have dots. */
export function splitHeldId(id: string): { readonly node: string | undefined; readonly own: string } {
  const at = id.lastIndexOf(".");
  return at === -1 ? { node: undefined, own: id } : { node: id.slice(0, at), own: id.slice(at + 1) };
}
