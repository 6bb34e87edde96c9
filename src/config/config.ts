import type { ToolEffect } from "../kernel/call/tool-effects.ts";
import type { ServerSlug, PrincipalId } from "../kernel/ids.ts";
import type { ClientProfiles } from "./rows/client-profiles.ts";
import type { Refill } from "./entry/entry-variables.ts";
import type { ProcessKind, RemoteKind } from "./entry/transports.ts";
import type { instanceRows, serverTimes } from "./rows/instance-rows.ts";
import type { PolicyRule } from "./rows/rule-rows.ts";
import type { SandboxEngine, SandboxMode } from "./rows/sandbox-rows.ts";
import type { ProviderSettings } from "./rows/provider-rows.ts";
import type { plainFields } from "./entry/server-fields.ts";
import type { Facts, Resolved } from "./rows/setting-row.ts";
import type { settingsTable } from "./settings/settings-table.ts";

/**
 * The one frozen configuration that everything is built from (docs/design.md, "Configuration"). Times in ms, sizes in
 * bytes.
 */
export interface Config {
  /** Absolute path of the file. Undefined when there is none. */
  readonly file: string | undefined;
  readonly servers: readonly ServerConfig[];
  readonly settings: Settings;
  readonly people: People;
  /**
   * Oddities that are not fatal: duplicate keys, unknown fields, servers disabled for a reason. Never contains the
   * value of a variable.
   */
  readonly warnings: readonly string[];
  /**
   * Texts that the log must never show: see `secretsOf`. Set by `loadConfig`; absent in a configuration made by hand.
   */
  readonly secrets?: ReadonlySet<string>;
  /** Absolute paths of other files that change it: those that `envFile` names, and that of kept values. */
  readonly watched?: readonly string[];
  /** What servers take that stand elsewhere. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly inherited?: { readonly defaults: ServerDefaults; readonly facts: Facts };
  /** What the configuration was made of. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly identity?: ConfigIdentity;
}

/**
 * Two configurations with equal identities come from the same file, read from the same folder in the same
 * environment.
 */
export interface ConfigIdentity {
  /** The file with symbolic links followed; undefined when there is none. */
  readonly realFile: string | undefined;
  /**
   * The folder at which its relative paths start, with links followed. A link elsewhere to the same file starts
   * servers elsewhere.
   */
  readonly directory: string | undefined;
  /** Every variable that the file refers to, with its value, or null for one that is not set. Must never be shown. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** What a server takes from the settings unless its own entry says otherwise. */
export interface ServerDefaults extends Resolved<typeof serverTimes> {
  readonly startTimeoutMs: number | undefined;
  readonly breaker: boolean;
  readonly scope: "shared" | "user";
  readonly sandboxMode: SandboxMode;
  readonly sandboxEngine: SandboxEngine;
}

export type Transport = StdioTransport | HttpTransport;

export interface StdioTransport {
  readonly kind: ProcessKind;
  readonly command: string;
  readonly args: readonly string[];
  /**
   * What the configuration gives. The process's whole environment is this and a small, safe part of the gateway's
   * own.
   */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Absent where the process is not confined. */
  readonly sandbox?: SandboxRules;
}

/** What a confined process may reach. Paths are absolute. */
export interface SandboxRules {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Folders that the server is told as its roots, which it may read. */
  readonly roots: readonly string[];
  /** Host names, with `*` as a wildcard and perhaps a port; or `host` for the network of this machine. */
  readonly network: "host" | readonly string[];
  readonly memoryMb: number;
  readonly processes: number;
  readonly tmpMb: number;
  /** Whether it may make sandboxes of its own, as browsers do. */
  readonly browser: boolean;
  readonly engine: SandboxEngine;
  /** Of docker and podman. */
  readonly image: string | undefined;
  /** Whether it is started without where this machine cannot confine it. */
  readonly isOptional: boolean;
}

export interface HttpTransport {
  /** `sse` only when the configuration says so. An `http` URL that turns out to be SSE is used as SSE. */
  readonly kind: RemoteKind;
  readonly url: string;
  /** Every address of the server where it has several, `url` among them: the first, or the one of a connection. */
  readonly urls?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** URL of an HTTP proxy, or false for none. Absent: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` apply. */
  readonly proxy?: string | false;
  readonly tls?: TlsFiles;
  /** Its name may lead to addresses in the public Internet alone, because a team chose it and not the operator. */
  readonly isPublicOnly?: boolean;
}

/** PEM files. They are read for each connection, so that a certificate can be renewed while the gateway runs. */
export interface TlsFiles {
  /** Authorities to trust instead of those that Node trusts. */
  readonly caFile?: string;
  /** The gateway's client certificate for this server, with its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly passphrase?: string;
}

/** Who uses an instance: everybody, one person, or one connected client. */
export type Scope = "shared" | "user" | "client";

/** Fields that are passed on unchanged from the entry have their rows in `plainFields`. */
export interface ServerConfig extends Resolved<typeof plainFields> {
  readonly slug: ServerSlug;
  /** The key as it is in the file. */
  readonly key: string;
  readonly displayName: string;
  readonly transport: Transport;
  /** Why this server is not used, in one sentence. Undefined when it is enabled. */
  readonly disabledReason: string | undefined;
  readonly namespace: string;
  readonly scope: Scope;
  /**
   * `file:` URIs that a server which asks for roots is told instead of any client's. Undefined when the entry lists
   * none.
   */
  readonly roots: readonly string[] | undefined;
  readonly startTimeoutMs: number | undefined;
  readonly discoveryTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
  /** How long its process may be unused before it is stopped. */
  readonly idleTimeoutMs: number;
  /** Whether its process holds something for its users, who are told when it has ended. */
  readonly stateful: boolean;
  /** Whether its process keeps running while a client that used it is connected. */
  readonly staysForClients: boolean;
  /** Whether it is left alone for a while when its calls fail too often. */
  readonly breaker: boolean;
  readonly tools: ToolRules;
  readonly required: { readonly user: readonly string[]; readonly team: readonly string[] };
  /** What people and teams of the database may give beside it. */
  readonly optional: { readonly user: readonly string[]; readonly team: readonly string[] };
  /**
   * SHA-256 over everything that reaches the server (transport, merged values). A stored catalog is valid only for
   * the same hash.
   */
  readonly hash: string;
  /**
   * Present where arguments or variables of the process refer to variables that people or teams could give. Has values
   * of variables, which must never be shown.
   */
  readonly refill?: Refill;
  /** Absent for servers of the configuration. */
  readonly installed?: Installed;
}

/** A server that a team installed. Two teams may have one of the same slug. */
export interface Installed {
  /** The installation's id, by which everything of it is keyed. */
  readonly id: string;
  /** The slug of the team. */
  readonly team: string;
  /** Whether the team wrote the entry: then nothing in it makes the gateway's rules weaker. */
  readonly isOfTeam?: boolean;
}

export interface ToolRules {
  /** Tool names, with `*` as a wildcard. Undefined: every tool. */
  readonly allow: readonly string[] | undefined;
  /** Further lists of the same kind, from other clients' fields. A tool must be on each of them as well. */
  readonly within?: readonly (readonly string[])[];
  readonly deny: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  readonly describe: Readonly<Record<string, string>>;
  /** What people say when they need a tool, in place of what the server says of that. */
  readonly phrases: Readonly<Record<string, readonly string[]>>;
  /** Patterns of tools of which each call needs a person's yes, and of those that need none. The first are stronger. */
  readonly ask: readonly string[];
  readonly neverAsk: readonly string[];
  /** What tools do, by patterns of the server's own names. The strongest of those that fit counts. */
  readonly effects: Readonly<Record<string, ToolEffect>>;
  /** Rules of the team that installed the server, of which none allows anything. Absent where it has none. */
  readonly rules?: readonly PolicyRule[];
}

/** Every setting in force: the rows of `settingsTable`, except for values combined from several of them. */
export interface Settings extends Omit<
  Table,
  "auth" | "clients" | "dataDir" | "instances" | "logLevel" | "teams" | "principals" | "publicUrl" | "trustedProxies"
> {
  readonly auth: AuthSettings;
  /** Without the times that each server has for itself; those are in its `ServerConfig`. */
  readonly instances: InstanceSettings;
  /** Client profiles, by `clientInfo.name`. */
  readonly clients: ClientProfiles;
  /** The address that clients use, without a slash at its end. Undefined when it is taken from each request. */
  readonly publicUrl?: string | undefined;
  readonly trustedProxies?: readonly string[];
  /** Absolute. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly dataDir?: string;
  readonly logLevel?: LogLevel;
}

type Table = Resolved<typeof settingsTable>;

export interface AuthSettings extends Omit<Table["auth"], "tokenHash" | "providers"> {
  /** Identity providers, by name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** `sha256:<hex>` of the tokens that may call as the local principal. */
  readonly tokenHashes: readonly string[];
}

export type LogLevel = Table["logLevel"];
export type SearchSettings = Table["search"];
export type EmbeddingSettings = NonNullable<SearchSettings["embeddings"]>;
export type EnrichSettings = NonNullable<SearchSettings["enrich"]>;
export type InstanceSettings = Resolved<typeof instanceRows>;
export type Limits = Table["limits"];
export type NamespaceSettings = Table["namespaces"];

/** Overrides of one server for a team or a person: merged template < team < user. */
export interface ServerOverrides {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Paths such as `env.TOKEN` whose value names a variable that is not set. They are left out above, and the
   * template's value never takes their place.
   */
  readonly missing?: readonly string[];
}

export interface Person {
  readonly id: PrincipalId;
  readonly team: string | null;
  readonly tokenHashes: readonly string[];
  readonly roles: readonly string[];
  readonly servers: ReadonlyMap<string, ServerOverrides>;
}

export interface People {
  readonly principals: ReadonlyMap<string, Person>;
  readonly teams: ReadonlyMap<string, ReadonlyMap<string, ServerOverrides>>;
}

/**
 * Freezes a value and everything in it, including the values of maps. Maps and sets themselves are read-only by type
 * only.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (value instanceof Map) for (const member of value.values()) deepFreeze(member);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
