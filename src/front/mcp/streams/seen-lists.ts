import type { Exposure } from "../../../catalog/exposure/exposure.ts";
import type { InstanceCatalog, ToolEntry } from "../../../catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../../catalog/model/view.ts";

/** Lists whose changes clients are told of. */
export const seenKinds = ["tools", "resources", "prompts"] as const;
export type SeenKind = (typeof seenKinds)[number];

/** The servers whose lists a client has, as it last heard of them. */
export type SeenServers = readonly ViewServer[];

/**
 * The servers that an exposure shows of a view. One that is starting and whose lists are not known yet is kept as it
 * was before: its client has those lists, and is told when the next ones differ.
 */
export function seenServers(view: View, exposure: Exposure, before: SeenServers = []): SeenServers {
  const shown = exposure.isTransparent ? ownServer(view, exposure) : view.servers;
  if (shown.every(({ catalog }) => catalog !== undefined)) return shown;
  const known = new Map(before.map((server) => [server.slug, server]));
  return shown.map((server) =>
    server.catalog === undefined && server.shown ? (known.get(server.slug) ?? server) : server,
  );
}

/** The server that a transparent exposure shows; none where the view does not have it any more. */
function ownServer(view: View, exposure: Exposure): SeenServers {
  try {
    return [exposure.transparent(view) ?? []].flat();
  } catch {
    return [];
  }
}

/** Which lists have other items than before, those of the server `except` not counted. Entries are never edited. */
export function changedSince(before: SeenServers, now: SeenServers, except?: ViewServer): readonly SeenKind[] {
  const earlier = bySlug(before.filter((server, at) => server !== now[at]));
  const later = bySlug(now.filter((server, at) => server !== before[at]));
  const slugs = [...new Set([...earlier.keys(), ...later.keys()])].filter((slug) => slug !== except?.slug);
  const isSame = (slug: string, kind: SeenKind): boolean => {
    const then = listsOf(earlier.get(slug), kind);
    return listsOf(later.get(slug), kind).every((list, at) => hasSameItems(list, then[at] ?? []));
  };
  return slugs.length === 0 ? [] : seenKinds.filter((kind) => slugs.some((slug) => !isSame(slug, kind)));
}

/**
 * Whether a server changed tools, and none of those that this client sees. What a server says beside its tools is part
 * of some lists as well: where no tool changed, that is what did.
 */
export function isHiddenChange(before: ViewServer | undefined, now: ViewServer): boolean {
  if (before?.catalog === undefined || now.catalog === undefined) return false;
  return isSameTools(before.tools, now.tools) && !isSameTools(before.catalog.tools, now.catalog.tools);
}

function isSameTools(some: readonly ToolEntry[], others: readonly ToolEntry[]): boolean {
  const isSame = (one: ToolEntry, other: ToolEntry | undefined): boolean =>
    one === other || (one.path === other?.path && one.hash === other.hash && one.held === other.held);
  return some === others || (some.length === others.length && some.every((one, at) => isSame(one, others[at])));
}

function bySlug(servers: SeenServers): ReadonlyMap<string, ViewServer> {
  return new Map(servers.map((server) => [server.slug, server]));
}

const noLists: Pick<InstanceCatalog, "resources" | "templates" | "skills" | "prompts"> = {
  ...{ resources: [], templates: [], skills: [], prompts: [] },
};

function listsOf(server: ViewServer | undefined, kind: SeenKind): readonly (readonly object[])[] {
  const { resources, templates, skills, prompts } = server?.catalog ?? noLists;
  if (kind === "tools") return [server?.tools ?? []];
  return kind === "prompts" ? [prompts] : [resources, templates, skills];
}

function hasSameItems(some: readonly object[], others: readonly object[]): boolean {
  return some === others || (some.length === others.length && some.every((one, at) => one === others[at]));
}
