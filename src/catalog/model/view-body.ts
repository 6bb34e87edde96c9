import { reaches, type Principal } from "../../kernel/principal.ts";
import { resolveNamespaces } from "./names/namespace-names.ts";
import { buildNames, type NamedCatalog, type NameTable } from "./names/names.ts";
import { withoutHeldTexts } from "./pinned-texts.ts";
import type { InstanceCatalog, ToolEntry } from "./snapshot.ts";
import type { MaySee, Narrowing, StatusView, ViewServer, ViewSource } from "./view.ts";

/** What a view is made of but for its extras. */
export interface ViewBody {
  readonly principal: Principal;
  readonly servers: readonly ViewServer[];
  readonly bySlug: ReadonlyMap<string, ViewServer>;
  readonly names: () => NameTable;
  readonly narrowing: Narrowing | undefined;
  /** How many tools are hidden by that. */
  readonly outside: () => number;
  /** Of each server, what it was made from. */
  readonly standings: ReadonlyMap<ViewServer, StatusView>;
}

export interface ViewBodies {
  /** `before` is the one that the same principal had: servers to which nothing happened are taken from it. */
  build(principal: Principal, before: ViewBody | undefined, narrowing: Narrowing | undefined): ViewBody;
}

export function createViewBodies(source: ViewSource, maySee: MaySee): ViewBodies {
  const subsetOf = createSubsets();
  const tables = createNameTables();

  function toServer(
    { principal, narrowing }: Pick<ViewBody, "principal" | "narrowing">,
    standing: StatusView,
    namespace: string,
  ): ViewServer {
    const catalog = shownCatalog(source, standing);
    const isSeen = (tool: ToolEntry): boolean =>
      maySee(principal, standing, tool) && narrowing?.takes(standing, tool) !== false;
    const seen = catalog === undefined ? [] : subsetOf(catalog.tools, isSeen);
    const held = seen.filter((tool) => tool.held !== undefined);
    const tools = held.length === 0 ? seen : subsetOf(seen, (tool) => tool.held === undefined);
    return Object.freeze({ ...standing, namespace, catalog, tools, ...(held.length === 0 ? {} : { held }) });
  }

  return {
    build(principal, before, narrowing) {
      const all = ownStandings(source, principal);
      const standings = narrowing === undefined ? all : all.filter(({ slug }) => narrowing.reaches(slug));
      const namespaces = resolveNamespaces(standings).names;
      const servers = standings.map((standing) => {
        const namespace = namespaces.get(standing.slug) ?? standing.namespace;
        const known = before?.bySlug.get(standing.slug);
        const isSame =
          known !== undefined &&
          before?.standings.get(known) === standing &&
          known.catalog === shownCatalog(source, standing) &&
          known.namespace === namespace;
        return isSame ? known : toServer({ principal, narrowing }, standing, namespace);
      });
      return {
        principal,
        servers: Object.freeze(servers),
        bySlug: new Map(servers.map((server) => [server.slug as string, server])),
        standings: new Map(servers.map((server, at) => [server, standings[at] as StatusView])),
        names: lateNames(tables, servers, standings),
        narrowing,
        outside: narrowing === undefined ? none : lateOutside(source, { principal, narrowing, maySee }, all),
      };
    },
  };
}

function shownCatalog(source: ViewSource, { instance }: StatusView): InstanceCatalog | undefined {
  const catalog = source.catalogOf(instance);
  return catalog && withoutHeldTexts(catalog);
}

/**
 * Built at the first call or list that needs it: many views are only ever searched. In a function of its own, because
 * closures of one function keep what any of them uses, and each view would keep the one before it.
 */
function lateNames(
  tables: (parts: readonly NamedCatalog[]) => NameTable,
  servers: readonly ViewServer[],
  standings: readonly StatusView[],
): () => NameTable {
  let names: NameTable | undefined;
  return () =>
    (names ??= tables(servers.flatMap((server, at) => toNamed(server, (standings[at] as StatusView).namespace))));
}

const none = (): number => 0;

/** Counted at the first look, over the lists as they are then. */
function lateOutside(
  source: Pick<ViewSource, "catalogOf">,
  { principal, narrowing, maySee }: { principal: Principal; narrowing: Narrowing; maySee: MaySee },
  standings: readonly StatusView[],
): () => number {
  let count: number | undefined;
  const outsideOf = (standing: StatusView): number => {
    const isHidden = (tool: ToolEntry): boolean =>
      tool.held === undefined &&
      maySee(principal, standing, tool) &&
      !(narrowing.reaches(standing.slug) && narrowing.takes(standing, tool));
    return source.catalogOf(standing.instance)?.tools.filter(isHidden).length ?? 0;
  };
  return () => (count ??= standings.reduce((sum, standing) => sum + outsideOf(standing), 0));
}

function ownStandings(source: ViewSource, principal: Principal): readonly StatusView[] {
  const standings = source.statusViews(principal);
  return principal.only === undefined ? standings : standings.filter(({ slug }) => reaches(principal, slug));
}

function toNamed({ catalog, tools, namespace }: ViewServer, configured: string): NamedCatalog[] {
  if (catalog === undefined) return [];
  const sharedNamespace = configured === namespace ? undefined : configured;
  return [{ catalog: { tools, prompts: catalog.prompts }, namespace, sharedNamespace }];
}

/** Different choices that are remembered of one list: as many as a large team has roles. */
const subsetLimit = 64;

/**
 * Parts of lists. Equal choices of one list are one list, so that people with the same rights share what it becomes.
 */
function createSubsets(): (
  tools: readonly ToolEntry[],
  isChosen: (tool: ToolEntry) => boolean,
) => readonly ToolEntry[] {
  const known = new WeakMap<readonly ToolEntry[], Map<string, readonly ToolEntry[]>>();
  return (tools, isChosen) => {
    let choice = "";
    let count = 0;
    for (const tool of tools) {
      const chosen = isChosen(tool);
      choice += chosen ? "1" : "0";
      if (chosen) count += 1;
    }
    if (count === tools.length) return tools;
    let subsets = known.get(tools);
    if (subsets === undefined) known.set(tools, (subsets = new Map()));
    let subset = subsets.get(choice);
    if (subset === undefined) {
      subset = Object.freeze(tools.filter((_tool, at) => choice[at] === "1"));
      if (subsets.size >= subsetLimit) subsets.clear();
      subsets.set(choice, subset);
    }
    return subset;
  };
}

/**
 * Tables of names. Views that name the same lists in the same way share one, which lives as long as one of them: what
 * a table refers to, the definitions of a list, may be a thousand times as large as itself.
 */
function createNameTables(): (parts: readonly NamedCatalog[]) => NameTable {
  const tables = new Map<string, WeakRef<NameTable>>();
  const ended = new FinalizationRegistry((key: string) => {
    if (tables.get(key)?.deref() === undefined) tables.delete(key);
  });
  const numberOf = createNumbers();
  return (parts) => {
    const key = parts
      .map(({ catalog, namespace, sharedNamespace }) =>
        [numberOf(catalog.tools), numberOf(catalog.prompts), namespace, sharedNamespace ?? ""].join(" "),
      )
      .join("\n");
    const known = tables.get(key)?.deref();
    if (known !== undefined) return known;
    const table = buildNames(parts);
    tables.set(key, new WeakRef(table));
    ended.register(table, key);
    return table;
  };
}

function createNumbers(): (list: InstanceCatalog["tools"] | InstanceCatalog["prompts"]) => number {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  return (list) => {
    let number = numbers.get(list);
    if (number === undefined) numbers.set(list, (number = last += 1));
    return number;
  };
}
