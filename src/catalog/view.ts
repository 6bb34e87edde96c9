import type { InstanceId, ServerSlug } from "../shared/ids.ts";
import type { Principal } from "../shared/principal.ts";
import type { InstanceStatus } from "../shared/status.ts";
import { buildNames, type NameTable } from "./names.ts";
import type { Catalog, InstanceCatalog, ToolEntry } from "./snapshot.ts";

/** One server as one principal sees it: its instance, how that stands, and what it offers. */
export interface ViewServer {
  readonly slug: ServerSlug;
  readonly title: string;
  readonly namespace: string;
  readonly category: string | undefined;
  readonly icon: string | undefined;
  readonly priority: "high" | "normal" | "low";
  readonly transport: "stdio" | "http" | "sse";
  readonly instance: InstanceId;
  readonly status: InstanceStatus;
  /** True when the process is stopped for idleness: its tools are found as usual. */
  readonly dormant: boolean;
  /** One sentence: why it has this status. */
  readonly reason: string;
  /** Whether lists and searches show its tools in this status. */
  readonly shown: boolean;
  /** What it offers, also when it is not shown; undefined when that was never known. */
  readonly part: InstanceCatalog | undefined;
  /** Tools that the policy lets this principal see. */
  readonly tools: readonly ToolEntry[];
}

/** The catalog as one principal may see it. Immutable; a reader keeps the one that it began with. */
export interface View {
  readonly principal: Principal;
  readonly servers: readonly ViewServer[];
  /** Every tool that the principal may call, whatever its server's status: a call learns of that at the gate. */
  readonly names: NameTable;
  /** Grows whenever anything in it may have changed. */
  readonly version: string;
  server(slug: string): ViewServer | undefined;
}

/** What `instance/` knows of the servers of one principal, in the configuration's order. */
export type ServerStanding = Omit<ViewServer, "part" | "tools">;

export interface ViewSource {
  /** Grows with every change of any status or of the set of servers. */
  readonly statusVersion: number;
  standings(principal: Principal): readonly ServerStanding[];
}

export type MaySee = (principal: Principal, server: ServerStanding, tool: ToolEntry) => boolean;

/** At most this many principals' views are kept; the one unused for longest goes first. */
const keptViews = 1_000;

/** Views, memoised by principal, catalog version and status version: a call looks one entry up and builds nothing. */
export function createViews(current: () => Catalog, source: ViewSource, maySee: MaySee): (principal: Principal) => View {
  const memo = new Map<string, { catalogVersion: number; statusVersion: number; view: View }>();
  return (principal) => {
    const catalog = current();
    const known = memo.get(principal.id);
    if (known !== undefined && known.catalogVersion === catalog.version && known.statusVersion === source.statusVersion && known.view.principal === principal) return known.view;
    const view = buildView(principal, catalog, source, maySee);
    memo.delete(principal.id);
    memo.set(principal.id, { catalogVersion: catalog.version, statusVersion: source.statusVersion, view });
    if (memo.size > keptViews) memo.delete(memo.keys().next().value as string);
    return view;
  };
}

function buildView(principal: Principal, catalog: Catalog, source: ViewSource, maySee: MaySee): View {
  const servers = source.standings(principal).map((standing): ViewServer => {
    const part = catalog.instances.get(standing.instance);
    return Object.freeze({ ...standing, part, tools: part?.tools.filter((tool) => maySee(principal, standing, tool)) ?? [] });
  });
  const bySlug = new Map(servers.map((server) => [server.slug as string, server]));
  let names: NameTable | undefined;
  return Object.freeze({
    principal,
    servers: Object.freeze(servers),
    version: `${catalog.version}.${source.statusVersion}`,
    // Built at the first call or list that needs it: many views are only ever searched.
    get names() {
      names ??= buildNames(
        servers.flatMap((server) => (server.part === undefined ? [] : [{ part: { ...server.part, tools: server.tools }, namespace: server.namespace }])),
      );
      return names;
    },
    server: (slug: string) => bySlug.get(slug),
  });
}
