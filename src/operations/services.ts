import type { Readable } from "node:stream";
import type { ChosenVersion, DefinitionBook, Verdict } from "../catalog/definitions/definition-book.ts";
import type { Discovery } from "../catalog/discovery/discovery.ts";
import type { Pins } from "../catalog/discovery/pins.ts";
import type { KeptSearches } from "../catalog/discovery/kept-searches.ts";
import type { ToolEntry } from "../catalog/model/snapshot.ts";
import type { LazyNames } from "../catalog/model/names/lazy-names.ts";
import type { View, ViewServer } from "../catalog/model/view.ts";
import type { ConfigDifference } from "../config/edit/config-comparison.ts";
import type { SandboxRules, ServerConfig, Settings } from "../config/config.ts";
import type { Management } from "./request/management.ts";
import type { LiveEvents } from "../records/events/live-events.ts";
import type { GatewayStatus, StatusReader } from "../records/gateway-status.ts";
import type { AuditHistory } from "../records/audit/audit-history.ts";
import type { AuditFacts } from "../records/audit/audit-log.ts";
import type { Metrics } from "../records/telemetry/metrics.ts";
import type { Profiles } from "../engine/policy/profiles.ts";
import type { TokenSum } from "../records/usage/list-costs.ts";
import type { SavedToday } from "../records/usage/finding-history.ts";
import type { TokenReport } from "../records/usage/token-report.ts";
import type { Usage } from "../records/usage/usage-log.ts";
import type { ExposureName } from "../config/rows/exposures.ts";
import type { Elsewhere } from "../cluster/peers/held-things.ts";
import type { NodeDesk } from "../cluster/peers/node-desk.ts";
import type { RecordHistory } from "../records/calls/record-history.ts";
import type { Fleet } from "../servers/instance/fleet/fleet.ts";
import type { Instance } from "../servers/instance/instance.ts";
import type { LearnedNames } from "../servers/sandbox/learned-names.ts";
import type { NamespaceLoads } from "../engine/namespaces/namespace-loads.ts";
import type { Routing } from "../engine/calls/routing.ts";
import type { Subscriptions } from "../engine/calls/subscriptions/subscriptions.ts";
import type { FlowLabels } from "../engine/flows/flow-labels.ts";
import type { ApprovalBook } from "../engine/approvals/approval-book.ts";
import type { Performer } from "../engine/perform/perform.ts";
import type { EventBus } from "../kernel/events/event-bus.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import type { InstanceId } from "../kernel/ids.ts";
import type { StoreUpkeep } from "../store/store-upkeep.ts";
import type { ChangeActor } from "../people/directory/change-queue.ts";
import type { InstanceTokens } from "../people/identity/instance-tokens.ts";
import type { InstallIndex } from "../people/installations/install-index.ts";
import type { InstallChanges } from "../people/installations/install-changes.ts";
import type { InstalledServers } from "../people/installations/installed-servers.ts";
import type { SecretChanges } from "../people/installations/secret-changes.ts";
import type { TemplateCatalog } from "../people/installations/template-catalog.ts";
import type { Accounts } from "../people/authorization-server/accounts.ts";
import type { RegisteredClients } from "../people/authorization-server/registered-clients.ts";
import type { UserAccess } from "../people/authorization-server/user-access.ts";
import type { PeopleChanges } from "../people/directory/people-changes.ts";
import type { TeamDirectory } from "../people/directory/team-directory.ts";
import type { WakeElsewhere } from "./reply.ts";
import type { TextCache } from "./cached-text.ts";
import type { RestQuestions } from "./tools/asked-questions.ts";
import type { ResourceLeases } from "./tools/resource-leases.ts";
import type { TrialTurns } from "./servers/trial-turns.ts";
import type { JsonObject } from "../kernel/text/json-bytes.ts";
import type { Principal } from "../kernel/principal.ts";

/** What people decide about definitions of tools. */
export interface DefinitionDesk extends Pick<DefinitionBook, "pinOf" | "textsOf"> {
  /**
   * Decides about versions of a server's tools, and applies that to all instances of the server. `via` is the way in
   * which the decision came. Rejects when it cannot be written.
   */
  decide(
    instance: Instance,
    chosen: readonly ChosenVersion[],
    verdict: Verdict & { readonly via: string },
  ): Promise<void>;
}

export interface TokensQuestion {
  readonly principal: Principal;
  readonly exposure: ExposureName | undefined;
  readonly of: string | undefined;
  /** How long definitions that are not counted yet are waited for. */
  readonly waitMs: number;
}

/** The people of the database, as REST reads and changes them. */
export interface RestPeople {
  readonly book: TeamDirectory["book"];
  readonly changes: (by: ChangeActor) => PeopleChanges;
  readonly installs: RestInstalls;
  /** Apps and browsers that people are logged in with. */
  readonly access: UserAccess;
  /** Apps that are registered at our authorization server. */
  readonly clients: RegisteredClients;
  readonly accounts: Pick<Accounts, "createLink">;
}

/** What teams installed. */
export interface RestInstalls {
  readonly book: Omit<InstallIndex, "apply">;
  readonly servers: InstalledServers;
  readonly templates: TemplateCatalog;
  readonly changes: InstallChanges;
  readonly secrets: SecretChanges;
  /** The configuration's, which everybody has. */
  readonly fileServers: () => readonly ServerConfig[];
  /** Those that exist, of one installation. */
  readonly instancesOf: (installation: string) => readonly Instance[];
}

/** The audit, as REST writes and reads it. */
export interface RestAudit extends Pick<AuditHistory, "page" | "verify"> {
  /** Resolves when the entry is written, before the answer. */
  readonly order: (facts: AuditFacts) => Promise<void>;
}

/** Logins at the servers behind instances. */
export interface ServerLogins {
  of(instance: Instance): Promise<{ readonly takesLogin: boolean; readonly hasLogin: boolean }>;
  /** The page where its person logs in; undefined in a gateway that has none. */
  pageOf(instance: InstanceId): string | undefined;
  /** Whether the principal decides on its login: on a shared one only those who run the team, or the gateway. */
  mayDecide(principal: Principal, instance: Instance): boolean;
  /** Resolves to whether there was one. */
  logOut(instance: Instance): Promise<boolean>;
}

/** What an admin does with the databases. Everything rejects with STORE_UNAVAILABLE while there is none. */
export interface RestUpkeep extends Pick<StoreUpkeep, "check"> {
  /** Rejects with BACKUP_UNUSABLE, and with RATE_LIMITED while another one is read. */
  backup(): Promise<BackupFile>;
  /** Writes it to a path of this machine. */
  readonly backupTo: StoreUpkeep["backup"];
}

/** A backup that was written for one reader. */
export interface BackupFile {
  readonly bytes: number;
  readonly stream: Readable;
  /** To be called when it was read, or was not. */
  remove(): Promise<void>;
}

/** A connected MCP client. Unknown facts are null. */
export interface Connection {
  /** As it names itself; untrusted. */
  readonly client: string | null;
  readonly principal: string | null;
  readonly endpoint: string | null;
  readonly revision: string | null;
  readonly idleMs: number | null;
}

/** How the configuration file differs from the configuration in force. */
export interface ConfigDrift {
  readonly file: string | null;
  /** Why the file cannot be used as it is; null when it can. */
  readonly refused: string | null;
  /** What the file would change, without secrets. Empty when it is refused. */
  readonly differences: readonly ConfigDifference[];
}

/** How the gateway is, and what goes on at this moment. */
export interface Activity {
  readonly status: GatewayStatus;
  readonly pending: readonly PendingCall[];
  readonly saved: SavedToday;
  readonly here: TokenSum;
  readonly flat: TokenSum;
}

/** A request of a client that a server works on. */
export interface PendingCall {
  readonly server: string;
  readonly method: string;
  readonly name: string | null;
  readonly runningMs: number;
}

/** What operations do their work with: the same objects as MCP. */
export interface Services {
  readonly version: string;
  readonly settings: () => Settings;
  /** Undefined where the configuration cannot be changed over REST. */
  readonly management: Management | undefined;
  /** MCP clients that are connected now. */
  readonly connections: () => readonly Connection[];
  /** Whether no credentials are needed, in which case everybody is the one local principal. */
  readonly isOpen: () => boolean;
  /** Whether apps get their tokens from this gateway: then it is the authorization server of all its resources. */
  readonly hasLogins: boolean;
  readonly events: Pick<EventBus, "on">;
  /** Aborts when the gateway begins to stop: answers that would never end, end then. */
  readonly draining: AbortSignal;
  /** Events as they happen. */
  readonly live: () => Promise<Pick<LiveEvents, "follow">>;
  /**
   * Registers a call so that it is aborted, with a reason, when its principal loses access. Returns a function to
   * call when it ends.
   */
  readonly track: (principal: Principal, controller: AbortController) => () => void;
  readonly fleet: Pick<Fleet, "adopting" | "all" | "catalogOf">;
  readonly definitions: DefinitionDesk;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  /** Resolves when servers that began to start within `patienceMs` have come up, or the signal aborts. */
  readonly settled: (principal: Principal, patienceMs: number, signal: AbortSignal) => Promise<void>;
  readonly discovery: Pick<Discovery, "phrasesOf">;
  /** The person with this id, for an admin who asks for what that person sees. */
  readonly personOf: (id: string, signal: AbortSignal) => Promise<Principal | undefined>;
  readonly routing: Pick<Routing, "wake">;
  readonly performer: Performer;
  readonly subscriptions: Pick<Subscriptions, "subscribe">;
  /** Searches that people keep as tests; read from the disk at the first request. */
  readonly pins: Pins;
  /** Calls that wait for a person's yes, and what was said yes to. */
  readonly approvals: () => Promise<ApprovalBook>;
  /** What clients have read, as far as `policy.flows` goes by it. */
  readonly flowLabels: () => Promise<FlowLabels>;
  readonly keptSearches: (principal: Principal) => Promise<KeptSearches>;
  readonly namespaces: { readonly loads: Pick<NamespaceLoads, "stats"> };
  /** The principal's own instances, and the shared ones. */
  readonly instancesOf: (principal: Principal) => readonly Instance[];
  /** An instance of a team that the principal runs; for admins of the gateway, of any team. */
  readonly managedInstance: (principal: Principal, id: string) => Instance | undefined;
  /** Calls back with the id of each instance whose status has changed. Returns what ends that. */
  readonly onStatus: (listener: (instance: string) => void) => () => void;
  readonly serverLogins: ServerLogins;
  /** Sandboxes of the configuration's servers. */
  readonly sandboxes: {
    readonly rulesOf: (slug: string) => SandboxRules | undefined;
    readonly learned: () => Promise<LearnedNames>;
  };
  readonly instanceTokens: Pick<InstanceTokens, "issue" | "list" | "revoke">;
  readonly metrics: Metrics;
  readonly usage: Pick<Usage, "read" | "minutes" | "startedMs">;
  /** What definitions cost a principal; sessions and spending are those of `of`, or of everybody. */
  readonly tokens: (ask: TokensQuestion) => Promise<TokenReport>;
  /** What each tool's definition costs in a flat list. */
  readonly toolTokens: (view: View) => Promise<(server: ViewServer, tool: ToolEntry) => TokenSum>;
  /** What the list of tools at an MCP path costs a model. */
  readonly listAt: (path: string, view: View) => Promise<TokenSum & { readonly exposure: string }>;
  readonly profiles: Pick<Profiles, "enter" | "rulesOf">;
  readonly clock: Pick<Clock, "now" | "monotonic" | "after">;
  /** Calls and logs that were recorded. */
  readonly history: RecordHistory;
  readonly status: StatusReader;
  /** Has the other nodes of a cluster do the same with their instance; undefined where the gateway is alone. */
  readonly orderElsewhere:
    | ((order: "restart" | "stop", instance: Instance, limitMs: number) => Promise<void>)
    | undefined;
  readonly activity: () => Promise<Activity>;
  readonly audit: RestAudit;
  readonly upkeep: RestUpkeep;
  /** This gateway among the nodes of a cluster; undefined where it is alone, and until it has joined. */
  readonly nodes: () => NodeDesk | undefined;
  /** What other nodes keep for clients; undefined where the gateway is alone. */
  readonly elsewhere: Elsewhere | undefined;
  /** Wakes those who follow records when other nodes have some; undefined in a gateway that is alone. */
  readonly wakeElsewhere: WakeElsewhere | undefined;
  /** The node of the cluster that runs an instance; null where no node does, and in a gateway that is alone. */
  readonly nodeOf: (instance: Instance) => string | null;
  /** Undefined where the people are those of the configuration alone. */
  readonly people: () => RestPeople | undefined;
  /** Path and fragment of a link to the dashboard that works once. */
  readonly dashboardLink: () => string;
  /** The configuration file, compared with the configuration in force. */
  readonly configDrift: () => Promise<ConfigDrift>;
  /** Why people are refused; undefined where they are let in. */
  readonly unready: () => string | undefined;
  /** Facts shown at `/api/status/debug`. */
  readonly debugFacts: () => JsonObject;
  /** Removes every secret from a text that a server wrote. */
  readonly redact: (text: string) => string;
  /** The JSON text of a value without secrets. */
  readonly redactJson: (value: object) => string;
  /** Answers that were made from a view. */
  readonly texts: TextCache;
  readonly questions: RestQuestions;
  readonly trials: TrialTurns;
  readonly leases: ResourceLeases;
}
