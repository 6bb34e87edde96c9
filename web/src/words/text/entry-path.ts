import { findNodeAtLocation, parseTree, type Node } from "jsonc-parser";
import { isServerSlug, replacedForSlug } from "../../../../src/kernel/ids.ts";

/** Where entries of servers may stand in a configuration, in the order in which they are looked for. */
const places = [["mcpServers"], ["servers"], ["mcp", "servers"], ["mcp", "mcpServers"]] as const;

function treeOf(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

/**
 * Whether the gateway's name for an entry with this key is that of a server, as config/words/slug.ts makes it. Where
 * that is made of a digest, which pages cannot compute at once, it is false.
 */
export function isKeyOf(key: string, server: string): boolean {
  return (isServerSlug(key) ? key : replacedForSlug(key)) === server;
}

function entriesOf(root: Node | undefined): readonly { readonly key: string; readonly path: readonly string[] }[] {
  if (root === undefined) return [];
  return places.flatMap((place) =>
    (findNodeAtLocation(root, [...place])?.children ?? []).flatMap(({ children: [name] = [] }) =>
      typeof name?.value === "string" ? [{ key: name.value, path: [...place, name.value] }] : [],
    ),
  );
}

/** The path of a server's entry in the file; undefined where it is not there. */
export function entryPath(text: string, server: string): readonly string[] | undefined {
  return entriesOf(treeOf(text)).find(({ key }) => isKeyOf(key, server))?.path;
}
