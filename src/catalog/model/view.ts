import type { InstanceId, ServerSlug } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { InstanceStatus } from "../../kernel/status-words.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LoadedNamespaces } from "./names/namespace-names.ts";
import type { NameTable } from "./names/names.ts";
import type { InstanceCatalog, ToolEntry } from "./snapshot.ts";
import type { TransportKind } from "../../config/entry/transports.ts";

/** One server as one principal sees it: its instance, its status, and what it offers. */
export interface ViewServer {
  readonly slug: ServerSlug;
  readonly title: string;
  /** Unique within a view; see `catalog/model/names/namespace-names.ts`. */
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
  /** What the person can do about it, where more is known than the status says. */
  readonly advice?: string | undefined;
  /** What has to be done before it runs again, of one that is off: `correct` means that its entry is wrong. */
  readonly step?: "enable" | "correct" | "start" | undefined;
  /** Whether lists and searches show its tools in this status. */
  readonly shown: boolean;
  /** What it offers, also while that is not shown. Undefined when it was never known. */
  readonly catalog: InstanceCatalog | undefined;
  /** Tools that the policy lets this principal see, and that are not held back. */
  readonly tools: readonly ToolEntry[];
  /** Those of them that wait for a person to look at their definitions; absent where none does. */
  readonly held?: readonly ToolEntry[];
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
  readonly version: number;
  /** What narrows it beside the principal's rights; undefined where nothing does. */
  readonly narrowing?: Narrowing | undefined;
  /** How many tools its principal would see without that. Counted when it is asked for. */
  readonly outside: number;
  server(slug: string): ViewServer | undefined;
}

/** What `servers/instance` knows about one principal's servers, in the configuration's order. */
export type StatusView = Omit<ViewServer, "catalog" | "tools" | "held">;

export interface ViewSource {
  /**
   * Grows with every change of what this principal has: of a status, of the offered tools, of the set of servers. A
   * change of another person's own server does not count.
   */
  versionOf(principal: Principal): number;
  /** One that did not change is the same object as before. */
  statusViews(principal: Principal): readonly StatusView[];
  /** What an instance offers; one that did not change is the same object as before. */
  catalogOf(instance: InstanceId): InstanceCatalog | undefined;
}

/** A choice of servers and tools, which hides all others from search, lists and calls alike. */
export interface Narrowing {
  readonly name: string;
  readonly reaches: (server: string) => boolean;
  readonly takes: (server: StatusView, tool: ToolEntry) => boolean;
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
  /** Undefined for those who see all that they may. */
  readonly narrowing?: (principal: Principal) => Narrowing | undefined;
  /** By what `MaySee` decides beside the servers: another object when it decides otherwise. */
  readonly policy?: (() => unknown) | undefined;
}

export type MaySee = (principal: Principal, server: StatusView, tool: ToolEntry) => boolean;

/** The server that a tool or prompt of a view belongs to. */
export function serverOf(view: Pick<View, "server">, { server }: { readonly server: ServerSlug }): ViewServer {
  const found = view.server(server);
  if (found === undefined) throw new GatewayError("SERVER_UNKNOWN", `${server} is no longer configured`);
  return found;
}

/** The end of a sentence about something that is not there; empty where nothing narrows the view. */
export function inProfile({ narrowing }: Pick<View, "narrowing">): string {
  return narrowing === undefined ? "" : ` in profile ${narrowing.name}`;
}
