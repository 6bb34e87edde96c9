import { findNodeAtLocation, parseTree, type Node } from "jsonc-parser";
import { changeJson } from "../../../src/config/json-change.ts";
import { isServerSlug } from "../../../src/kernel/ids.ts";

/** A tool by its server and by the server's own name for it, which is what rules name. */
export interface RuledTool {
  readonly server: string;
  readonly name: string;
}

/** A rule of the file that hides tools: a name, or a pattern with `*`. */
export interface HidingRule extends RuledTool {
  /** Where the list of rules stands. */
  readonly path: readonly (string | number)[];
  readonly at: number;
}

/** Where entries of servers may stand in a configuration, in the order in which they are looked for. */
const places = [["mcpServers"], ["servers"], ["mcp", "servers"], ["mcp", "mcpServers"]] as const;

function treeOf(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

/**
 * Whether the gateway's name for an entry with this key is that of a server, as config/slug.ts makes it. Where that
 * is made of a digest, which pages cannot compute at once, it is false.
 */
export function isKeyOf(key: string, server: string): boolean {
  if (isServerSlug(key)) return key === server;
  const replaced = key
    .normalize("NFC")
    .slice(0, 256)
    .replace(/[^A-Za-z0-9._-]+/gu, "-")
    .replace(/^[._-]+|-+$/g, "")
    .slice(0, 63);
  return replaced === server;
}

function entriesOf(root: Node | undefined): readonly { readonly key: string; readonly path: readonly string[] }[] {
  if (root === undefined) return [];
  return places.flatMap((place) =>
    (findNodeAtLocation(root, [...place])?.children ?? []).flatMap(({ children: [name] = [] }) =>
      typeof name?.value === "string" ? [{ key: name.value, path: [...place, name.value] }] : [],
    ),
  );
}

/** Where the entry of a server stands in the file; undefined where it is not there. */
export function entryPath(text: string, server: string): readonly string[] | undefined {
  return entriesOf(treeOf(text)).find(({ key }) => isKeyOf(key, server))?.path;
}

/** The rules of the file that hide tools. */
export function hidingRules(text: string): readonly HidingRule[] {
  const root = treeOf(text);
  return entriesOf(root).flatMap(({ key, path }) => {
    const own = [...path, "tools", "deny"];
    const list = root === undefined ? undefined : findNodeAtLocation(root, own);
    return (list?.children ?? []).flatMap(({ value }, at) =>
      typeof value === "string" ? [{ server: key, name: value, path: own, at }] : [],
    );
  });
}

/**
 * The text with these tools hidden; all else stays as it was written. Undefined where an entry is not in this file, or
 * has something else in the place of its rules.
 */
export function withHidden(text: string, tools: readonly RuledTool[]): string | undefined {
  return tools.reduce<string | undefined>((now, { server, name }) => {
    if (now === undefined) return undefined;
    const root = treeOf(now);
    const entry = entriesOf(root).find(({ key }) => isKeyOf(key, server));
    if (root === undefined || entry === undefined) return undefined;
    const path = [...entry.path, "tools", "deny"];
    const list = findNodeAtLocation(root, path);
    if (list === undefined) return changeJson(now, { path, value: [name] });
    if (list.type !== "array") return undefined;
    const rules = list.children ?? [];
    if (rules.some(({ value }) => value === name)) return now;
    return changeJson(now, { path: [...path, rules.length], value: name });
  }, text);
}

/** The text without this rule; undefined where the file has another one there by now. */
export function withoutRule(text: string, { path, at, name }: HidingRule): string | undefined {
  const root = treeOf(text);
  const found = root === undefined ? undefined : findNodeAtLocation(root, [...path, at]);
  return found?.value === name ? changeJson(text, { path: [...path, at], value: undefined }) : undefined;
}

/** The text with another description of a tool; an empty one gives it its own back. */
export function withDescription(text: string, { server, name }: RuledTool, given: string): string | undefined {
  const root = treeOf(text);
  const entry = entriesOf(root).find(({ key }) => isKeyOf(key, server));
  if (entry === undefined) return undefined;
  const value = given === "" ? undefined : given;
  return changeJson(text, { path: [...entry.path, "tools", "describe", name], value });
}

/** The text with a tool called otherwise; an empty name gives it its own back. */
export function withName(text: string, { server, name }: RuledTool, given: string): string | undefined {
  const root = treeOf(text);
  const entry = entriesOf(root).find(({ key }) => isKeyOf(key, server));
  if (entry === undefined) return undefined;
  const value = given === "" || given === name ? undefined : given;
  return changeJson(text, { path: [...entry.path, "tools", "rename", name], value });
}
