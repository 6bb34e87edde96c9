/** Identifiers are branded where they are parsed (config, catalog) and never checked again. */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** A server's key in the configuration, made safe: `[A-Za-z0-9][A-Za-z0-9._-]{0,62}`. */
export type ServerSlug = Branded<string, "ServerSlug">;
/** One server as run for one principal (or shared by all). Unique in the gateway's life. */
export type InstanceId = Branded<string, "InstanceId">;
export type PrincipalId = Branded<string, "PrincipalId">;
/** Name of a tool as clients see it in paths: `server:tool`. */
export type ToolPath = Branded<string, "ToolPath">;

export const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export function isServerSlug(text: string): text is ServerSlug {
  return slugPattern.test(text);
}
