import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

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
