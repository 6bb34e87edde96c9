import { toClientName, withHash } from "./client-name.ts";
import type { InstanceCatalog, PromptEntry, ToolEntry } from "./snapshot.ts";

/**
 * Every spelling of every tool. Spellings are looked up and never split: the tool `c` of server `a-b` and the tool
 * `b-c` of server `a` stay apart in every spelling.
 */
export interface NameTable {
  /** The names that lists show. Every tool has one per listing, and no two tools share one. */
  flatName(tool: ToolEntry): string;
  namespacedName(tool: ToolEntry): string;
  promptName(prompt: PromptEntry): string;
  /**
   * Finds a tool by any spelling (docs/design.md, "Names"). A name that the given `listing` shows always means the
   * tool it shows.
   */
  find(spelling: string, listing?: Listing): Found;
  findPrompt(name: string): PromptEntry | undefined;
  /** All tools, in the order of the parts. */
  readonly tools: readonly ToolEntry[];
}

export type Listing = "flat" | "namespaced";

export type Found =
  | { readonly kind: "one"; readonly tool: ToolEntry; readonly form: "path" | "flat" | "namespaced" | "dot" }
  | { readonly kind: "bare"; readonly tool: ToolEntry }
  | { readonly kind: "several"; readonly tools: readonly ToolEntry[] }
  | { readonly kind: "none" };

export interface NamedCatalog {
  readonly catalog: Pick<InstanceCatalog, "tools" | "prompts">;
  readonly namespace: string;
  /**
   * The namespace that the server would have if no other claimed it too. Calls may use it as long as it means one
   * tool.
   */
  readonly sharedNamespace?: string | undefined;
}

/**
 * Builds the table for what one principal may see. Deterministic: the order of `catalogs` only breaks ties in the
 * listing. Each spelling's part of it is made when somebody first uses that spelling: those who call by path, as most
 * do, wait for no other, which in a view of a hundred thousand tools would take most of a second at once.
 */
export function buildNames(catalogs: readonly NamedCatalog[]): NameTable {
  const tools = catalogs.flatMap(({ catalog }) => catalog.tools);
  const named = (toText: (tool: ToolEntry, of: NamedCatalog) => string): Assigned<ToolEntry> =>
    assignNames(
      catalogs.flatMap((of) =>
        of.catalog.tools.map((tool) => ({ item: tool, text: toText(tool, of), identity: tool.path })),
      ),
    );
  const paths = once(() => new Map(tools.map((tool) => [tool.path as string, tool])));
  const flat = once(() => named((tool) => `${tool.server}-${tool.definition.name}`));
  const namespaced = once(() => named((tool, { namespace }) => `${namespace}__${tool.definition.name}`));
  const exposed = once(() => mergeExposed(flat(), namespaced(), catalogs));
  const bare = once(() => group(tools.map((tool) => [tool.definition.name, tool])));
  const prompts = once(() => assignPrompts(catalogs));

  return {
    tools,
    flatName: (tool) => flat().names.get(tool) ?? tool.path,
    namespacedName: (tool) => namespaced().names.get(tool) ?? tool.path,
    promptName: (prompt) => prompts().names.get(prompt) ?? prompt.definition.name,
    findPrompt: (name) => prompts().owners.get(name)?.[0],
    find(spelling, listing) {
      const listed =
        listing === undefined ? undefined : (listing === "flat" ? flat() : namespaced()).listed.get(spelling);
      if (listed !== undefined && listing !== undefined) return { kind: "one", tool: listed, form: listing };
      const byPath = paths().get(spelling);
      if (byPath !== undefined) return { kind: "one", tool: byPath, form: "path" };
      const byForm = exposed().get(spelling);
      if (byForm !== undefined) {
        const [first] = byForm;
        return byForm.length === 1 && first !== undefined
          ? { kind: "one", tool: first.tool, form: first.form }
          : { kind: "several", tools: distinct(byForm.map(({ tool }) => tool)) };
      }
      const byName = bare().get(spelling);
      const [only] = byName ?? [];
      if (byName === undefined || only === undefined) return { kind: "none" };
      return byName.length === 1 ? { kind: "bare", tool: only } : { kind: "several", tools: byName };
    },
  };
}

/** Makes something when it is first asked for. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function assignPrompts(catalogs: readonly NamedCatalog[]): Assigned<PromptEntry> {
  return assignNames(
    catalogs.flatMap(({ catalog }) =>
      catalog.prompts.map((prompt) => ({
        item: prompt,
        text: `${prompt.server}-${prompt.definition.name}`,
        identity: `${prompt.server}:${prompt.definition.name}`,
      })),
    ),
  );
}

type Form = "flat" | "namespaced" | "dot";

/** All forms but the path share one set of names: a spelling that means two tools in two forms belongs to neither. */
function mergeExposed(
  flat: Assigned<ToolEntry>,
  namespaced: Assigned<ToolEntry>,
  catalogs: readonly NamedCatalog[],
): Map<string, Array<{ tool: ToolEntry; form: Form }>> {
  const merged = new Map<string, Array<{ tool: ToolEntry; form: Form }>>();
  const add = (spelling: string, tool: ToolEntry, form: Form): void => {
    const there = merged.get(spelling);
    if (there === undefined) merged.set(spelling, [{ tool, form }]);
    else if (!there.some((other) => other.tool === tool)) there.push({ tool, form });
  };
  for (const { catalog, namespace, sharedNamespace } of catalogs) {
    for (const tool of catalog.tools) {
      const { name } = tool.definition;
      add(`${namespace}.${name}`, tool, "dot");
      if (sharedNamespace === undefined) continue;
      add(`${sharedNamespace}.${name}`, tool, "dot");
      add(toClientName(`${sharedNamespace}__${name}`, `${sharedNamespace}:${name}`), tool, "namespaced");
    }
  }
  for (const [spelling, owners] of namespaced.owners) for (const tool of owners) add(spelling, tool, "namespaced");
  for (const [spelling, owners] of flat.owners) for (const tool of owners) add(spelling, tool, "flat");
  return merged;
}

interface Assigned<T> {
  /** The name that lists show for each item. */
  readonly names: ReadonlyMap<T, string>;
  /** The reverse. */
  readonly listed: ReadonlyMap<string, T>;
  /** All claimants of a spelling. More than one when it is shared. */
  readonly owners: ReadonlyMap<string, readonly T[]>;
}

/** Gives every item a name of its own: the plain one when no other item claims it, otherwise one with a hash. */
function assignNames<T>(items: readonly { item: T; text: string; identity: string }[]): Assigned<T> {
  const plain = items.map(({ text, identity }) => toClientName(text, identity));
  const owners: Map<string, readonly T[]> = group(items.map(({ item }, at) => [plain[at] as string, item]));
  const claimants = new Map([...owners].filter(([, of]) => of.length > 1));
  const names = new Map<T, string>();
  const listed = new Map<string, T>();
  for (const [at, { item, text, identity }] of items.entries()) {
    let name = plain[at] as string;
    if (claimants.has(name)) {
      let digits = 8;
      name = withHash(text, identity, digits);
      while (owners.has(name) && digits < 32) {
        digits *= 2;
        name = withHash(text, identity, digits);
      }
      owners.set(name, [item]);
    }
    names.set(item, name);
    listed.set(name, item);
  }
  return { names, owners, listed };
}

/** Of pairs of which no two are the same. */
function group<T>(pairs: readonly (readonly [string, T])[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, item] of pairs) {
    const there = groups.get(key);
    if (there === undefined) groups.set(key, [item]);
    else there.push(item);
  }
  return groups;
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
