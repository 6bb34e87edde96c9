import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { InstanceStatus } from "../../kernel/status.ts";
import { noneLoaded, resolveNamespaces, type LoadedNamespaces } from "./namespace-names.ts";
import { buildNames, type NameTable } from "./names.ts";
import type { Catalog, InstanceCatalog, ToolEntry } from "./snapshot.ts";
import type { TransportKind } from "../../config/transports.ts";

/** One server as one principal sees it: its instance, its status, and what it offers. */
export interface ViewServer {
  readonly slug: ServerSlug;
  readonly title: string;
  /** Unique within a view; see `catalog/model/namespace-names.ts`. */
  readonly namespace: string;
  readonly category: string | undefined;
  readonly icon: string | undefined;
  readonly priority: "high" | "normal" | "low";
  readonly transport: TransportKind;
  readonly instance: InstanceId;
  readonly status: InstanceStatus;
  /** Whether the process is stopped for idleness. Its tools are found as usual. */
  readonly dormant: boolean;
  /** One sentence that explains the status. */
  readonly reason: string;
  /** Whether lists and searches show its tools in this status. */
  readonly shown: boolean;
  /** What it offers, also while that is not shown. Undefined when it was never known. */
  readonly catalog: InstanceCatalog | undefined;
  /** Tools that the policy lets this principal see. */
  readonly tools: readonly ToolEntry[];
}

/** The catalog as one principal may see it. Immutable: a reader keeps the view that it began with. */
export interface View {
  readonly principal: Principal;
  readonly servers: readonly ViewServer[];
  /**
   * Every tool that the principal may call, whatever its server's status: whether the server can take a call is
   * decided when the call is made.
   */
  readonly names: NameTable;
  /** The namespaces that are loaded for this principal: the `namespaces` exposure lists their tools. */
  readonly loaded: LoadedNamespaces;
  readonly bareNames: BareNameRules;
  /** Grows whenever anything in it may have changed. */
  readonly version: string;
  server(slug: string): ViewServer | undefined;
}

/** What `servers/instance` knows about one principal's servers, in the configuration's order. */
export type StatusView = Omit<ViewServer, "catalog" | "tools">;

export interface ViewSource {
  /** Grows with every change of any status or of the set of servers. */
  readonly statusVersion: number;
  statusViews(principal: Principal): readonly StatusView[];
}

/** The rules for calling tools by their bare name (`namespaceSupport`). */
export interface BareNameRules {
  /** Whether a bare name is accepted at all. */
  readonly legacySupport: boolean;
  /** Whether the answer carries a warning. */
  readonly deprecationWarnings: boolean;
  /** Whether the answer carries the full path. */
  readonly autoMigration: boolean;
}

/** What a view shows besides catalog and status. Each object is replaced when it changes. */
export interface ViewExtras {
  readonly loaded: (principal: Principal) => LoadedNamespaces;
  readonly bareNames: () => BareNameRules;
}

const plainExtras: ViewExtras = Object.freeze({ loaded: () => noneLoaded, bareNames: () => standardBareNames });
const standardBareNames: BareNameRules = Object.freeze({
  legacySupport: true,
  deprecationWarnings: true,
  autoMigration: false,
});

export type MaySee = (principal: Principal, server: StatusView, tool: ToolEntry) => boolean;

/** Views that are kept, one per principal. The least recently used is dropped first. */
const keptViews = 1_000;

interface Kept {
  readonly catalogVersion: number;
  readonly statusVersion: number;
  readonly body: ViewBody;
  readonly view: View;
}

/**
 * Keeps views by principal, catalog version and status version, so that a call looks one entry up and builds nothing.
 * When only the extras change, the view is new but its servers and names are not built again.
 */
export function createViews(
  current: () => Catalog,
  source: ViewSource,
  maySee: MaySee,
  extras: ViewExtras = plainExtras,
): (principal: Principal) => View {
  const memo = new Map<string, Kept>();
  return (principal) => {
    const catalog = current();
    const known = memo.get(principal.id);
    const loaded = extras.loaded(principal);
    const bareNames = extras.bareNames();
    const isSame =
      known !== undefined &&
      known.catalogVersion === catalog.version &&
      known.statusVersion === source.statusVersion &&
      isSamePrincipal(known.view.principal, principal);
    if (isSame && known.view.loaded === loaded && known.view.bareNames === bareNames) return known.view;
    const body = isSame ? known.body : buildBody(principal, catalog, source, maySee);
    const view = toView(body, loaded, bareNames);
    memo.delete(principal.id);
    memo.set(principal.id, { catalogVersion: catalog.version, statusVersion: source.statusVersion, body, view });
    if (memo.size > keptViews) memo.delete(memo.keys().next().value as string);
    return view;
  };
}

interface ViewBody {
  readonly principal: Principal;
  readonly servers: readonly ViewServer[];
  readonly bySlug: ReadonlyMap<string, ViewServer>;
  readonly names: () => NameTable;
  readonly version: string;
}

function buildBody(principal: Principal, catalog: Catalog, source: ViewSource, maySee: MaySee): ViewBody {
  const statusViews = source.statusViews(principal);
  const namespaces = resolveNamespaces(statusViews).names;
  const servers = statusViews.map((statusView): ViewServer => {
    const offered = catalog.instances.get(statusView.instance);
    const namespace = namespaces.get(statusView.slug) ?? statusView.namespace;
    return Object.freeze({
      ...statusView,
      namespace,
      catalog: offered,
      tools: offered?.tools.filter((tool) => maySee(principal, statusView, tool)) ?? [],
    });
  });
  const configured = new Map(statusViews.map((statusView) => [statusView.slug, statusView.namespace]));
  let names: NameTable | undefined;
  return {
    principal,
    servers: Object.freeze(servers),
    bySlug: new Map(servers.map((server) => [server.slug as string, server])),
    version: `${catalog.version}.${source.statusVersion}`,
    // Built at the first call or list that needs it: many views are only ever searched.
    names: () =>
      (names ??= buildNames(
        servers.flatMap((server) => {
          if (server.catalog === undefined) return [];
          const plain = configured.get(server.slug);
          return [
            {
              catalog: { ...server.catalog, tools: server.tools },
              namespace: server.namespace,
              sharedNamespace: plain === server.namespace ? undefined : plain,
            },
          ];
        }),
      )),
  };
}

function toView(body: ViewBody, loaded: LoadedNamespaces, bareNames: BareNameRules): View {
  return Object.freeze({
    principal: body.principal,
    servers: body.servers,
    loaded,
    bareNames,
    version: body.version,
    get names() {
      return body.names();
    },
    server: (slug: string) => body.bySlug.get(slug),
  });
}

/** One person may come with several credentials, each of which has a principal object of its own. */
function isSamePrincipal(a: Principal, b: Principal): boolean {
  return (
    a === b || (a.id === b.id && a.team === b.team && sameTexts(a.roles, b.roles) && sameTexts(a.scopes, b.scopes))
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
