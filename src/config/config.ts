import type { ServerSlug, PrincipalId } from "../kernel/ids.ts";
import type { ClientProfiles } from "./client-profiles.ts";
import type { ProcessKind, RemoteKind } from "./transports.ts";
import type { instanceRows } from "./instance-rows.ts";
import type { plainFields } from "./server-fields.ts";
import type { Resolved } from "./setting-row.ts";
import type { settingsTable } from "./settings-table.ts";

/**
 * The one frozen configuration that everything is built from (docs/design.md, "Configuration"). Times in ms, sizes in
 * bytes.
 */
export interface Config {
  /** Absolute path of the file, or undefined when there is none. */
  readonly file: string | undefined;
  readonly servers: readonly ServerConfig[];
  readonly settings: Settings;
  readonly people: People;
  /**
   * What was odd but not fatal: duplicate keys, unknown fields, servers disabled for a reason. Never holds a value of
   * a variable.
   */
  readonly warnings: readonly string[];
  /** What the log must never show: see `secretsOf`. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly secrets?: ReadonlySet<string>;
  /** Absolute paths of the files that `envFile` names: a change in one changes the configuration. */
  readonly envFiles?: readonly string[];
  /** What it was made of. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly identity?: ConfigIdentity;
}

/** Two configurations of equal identity are the same file, read in the same place and environment. */
export interface ConfigIdentity {
  /** The file with symbolic links followed; undefined when there is none. */
  readonly realFile: string | undefined;
  /** Where its relative paths start, links followed: a link elsewhere to the same file starts servers elsewhere. */
  readonly directory: string | undefined;
  /** Every variable that the file refers to, with its value; null for one that is not set. Never to be shown. */
  readonly variables: Readonly<Record<string, string | null>>;
}

export type Transport = StdioTransport | HttpTransport;

export interface StdioTransport {
  readonly kind: ProcessKind;
  readonly command: string;
  readonly args: readonly string[];
  /** What the configuration gives; the child's whole environment is this plus a small safe part of ours. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface HttpTransport {
  /** `sse` only when the configuration says so; an `http` URL that turns out to be SSE is spoken to as SSE. */
  readonly kind: RemoteKind;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** URL of an HTTP proxy; false for none. Absent: what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say. */
  readonly proxy?: string | false;
  readonly tls?: TlsFiles;
}

/** PEM files, read for each connection, so that a certificate can be renewed while the gateway runs. */
export interface TlsFiles {
  /** Authorities to trust in place of those that Node trusts. */
  readonly caFile?: string;
  /** What the gateway shows of itself to the server; with its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly passphrase?: string;
}

/** Whose an instance is: everybody's, one person's, or one connected client's. */
export type Scope = "shared" | "user" | "client";

/** Fields that an entry passes on as they are have their row in `plainFields`. */
export interface ServerConfig extends Resolved<typeof plainFields> {
  readonly slug: ServerSlug;
  /** The key as it stands in the file. */
  readonly key: string;
  readonly displayName: string;
  readonly transport: Transport;
  /** Why this server is not used, in one sentence; undefined when it is enabled. */
  readonly disabledReason: string | undefined;
  readonly namespace: string;
  readonly scope: Scope;
  /**
   * `file:` URIs that a server which asks for roots is told, in place of any client's; undefined when the entry lists
   * none.
   */
  readonly roots: readonly string[] | undefined;
  readonly startTimeoutMs: number | undefined;
  readonly discoveryTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly maxCallTimeoutMs: number;
  /** How long it may be without use before its process is stopped. */
  readonly idleTimeoutMs: number;
  /** Its process holds something for its users: they are told when it is gone. */
  readonly stateful: boolean;
  /** Its process is not stopped while a client that used it is connected. */
  readonly staysForClients: boolean;
  readonly tools: ToolRules;
  readonly required: { readonly user: readonly string[]; readonly team: readonly string[] };
  /**
   * SHA-256 over all that reaches the server (transport, merged values): a kept catalog is valid only for the same
   * hash.
   */
  readonly hash: string;
}

export interface ToolRules {
  /** Tool names, `*` allowed as a wildcard. Undefined: every tool. */
  readonly allow: readonly string[] | undefined;
  /** Further lists of that kind, from other clients' fields: a tool must be on each of them as well. */
  readonly within?: readonly (readonly string[])[];
  readonly deny: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  readonly describe: Readonly<Record<string, string>>;
}

/** Every setting as it holds: the rows of `settingsTable`, but for what is brought together from several of them. */
export interface Settings extends Omit<
  Table,
  "auth" | "clients" | "dataDir" | "instances" | "logLevel" | "teams" | "principals" | "publicUrl" | "trustedProxies"
> {
  readonly auth: AuthSettings;
  /** Without the times that each server has for itself. */
  readonly instances: InstanceSettings;
  /** What kinds of clients need beyond the protocol, by `clientInfo.name`. */
  readonly clients: ClientProfiles;
  /** The address that clients use, without a slash at its end; undefined when requests tell. */
  readonly publicUrl?: string | undefined;
  readonly trustedProxies?: readonly string[];
  /** Absolute. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly dataDir?: string;
  readonly logLevel?: LogLevel;
}

type Table = Resolved<typeof settingsTable>;

export interface AuthSettings extends Omit<Table["auth"], "tokenHash"> {
  /** `sha256:<hex>` of the tokens that may call as the local principal. */
  readonly tokenHashes: readonly string[];
}

export type LogLevel = Table["logLevel"];
export type SearchSettings = Table["search"];
export type EmbeddingSettings = NonNullable<SearchSettings["embeddings"]>;
export type InstanceSettings = Resolved<typeof instanceRows>;
export type Limits = Table["limits"];
export type NamespaceSettings = Table["namespaces"];

/** Overrides of one server for a team or a person: merged template < team < user. */
export interface ServerOverrides {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Paths such as `env.TOKEN` whose value names a variable that is not set. They are left out above and never fall
   * back to the template's.
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
