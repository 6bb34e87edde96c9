import type { ServerSlug, PrincipalId } from "../kernel/ids.ts";
import type { ClientProfiles } from "./client-profiles.ts";
import type { ExposureName } from "./exposures.ts";
import type { ProcessKind, RemoteKind } from "./transports.ts";

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
  /** What was odd but not fatal: duplicate keys, unknown fields, servers disabled for a reason. Never holds a value of a variable. */
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

export interface ServerConfig {
  readonly slug: ServerSlug;
  /** The key as it stands in the file. */
  readonly key: string;
  readonly displayName: string;
  readonly transport: Transport;
  /** Why this server is not used, in one sentence; undefined when it is enabled. */
  readonly disabledReason: string | undefined;
  readonly namespace: string;
  readonly category: string | undefined;
  readonly icon: string | undefined;
  readonly priority: "high" | "normal" | "low";
  readonly scope: Scope;
  /** `file:` URIs that a server which asks for roots is told, in place of any client's; undefined when the entry lists none. */
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
  readonly retry: boolean;
  readonly strictResults: boolean;
  /** Serialises this server's calls, so that its questions belong to exactly one. */
  readonly interactive: boolean;
  readonly requestLogging: boolean;
  readonly tools: ToolRules;
  readonly required: { readonly user: readonly string[]; readonly team: readonly string[] };
  /** SHA-256 over all that reaches the server (transport, merged values): a kept catalog is valid only for the same hash. */
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

export interface Settings {
  readonly host: string;
  readonly port: number;
  /** As a Host header has them, without port; `*` is every host. */
  readonly allowedHosts: readonly string[];
  /** As browsers send them; `*` is every site. */
  readonly allowedOrigins: readonly string[];
  /** The address that clients use, without a slash at its end; undefined when requests tell. */
  readonly publicUrl?: string | undefined;
  /** Addresses and ranges (CIDR) of the proxies whose `X-Forwarded-*` count. */
  readonly trustedProxies?: readonly string[];
  readonly exposure: ExposureName;
  /** Slug of the one server that `/mcp` is transparently. */
  readonly transparent: string | undefined;
  readonly auth: AuthSettings;
  readonly search: SearchSettings;
  readonly results: ResultSettings;
  readonly instances: InstanceSettings;
  readonly limits: Limits;
  readonly namespaces: NamespaceSettings;
  /** What kinds of clients need beyond the protocol, by `clientInfo.name`. */
  readonly clients: ClientProfiles;
  readonly debugRoute: boolean;
  /** Absolute. Set by `loadConfig`; absent in a configuration made by hand. */
  readonly dataDir?: string;
  readonly logLevel?: LogLevel;
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

export interface AuthSettings {
  /** `sha256:<hex>` of the tokens that may call as the local principal. */
  readonly tokenHashes: readonly string[];
  readonly insecure: boolean;
  readonly allowTokenInUrl: boolean;
}

export interface SearchSettings {
  readonly engine: "lexical" | "fuse";
  readonly learn: boolean;
  readonly embeddings: EmbeddingSettings | undefined;
}

export interface EmbeddingSettings {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
  readonly deadlineMs: number;
}

export interface ResultSettings {
  /** Most tokens that one answer of discover_mcp_tools may cost. */
  readonly discoverTokens: number;
}

export interface InstanceSettings {
  readonly idleGraceMs: number;
  readonly idleCheckMs: number;
  readonly parallelStarts: number;
  readonly startQueue: number;
  /** First starts of package runners at a time. */
  readonly parallelInstalls: number;
  /** A package runner's first start is given up after this long without any sign of work. */
  readonly runnerQuietMs: number;
  /** A package runner's start is given up after this long, whatever it does. */
  readonly runnerStartMs: number;
  /** How long a package runner whose start is given up has to end by itself. */
  readonly runnerStopMs: number;
  /** Whether `npx -y name` is started from the folder that it was installed into a day ago at most, without asking the registry. */
  readonly npxFromFolder: boolean;
  readonly stopTimeoutMs: number;
  readonly probeIntervalMs: number;
  readonly refreshIntervalMs: number;
  readonly drainTimeoutMs: number;
  /** Waits before the restarts after the first, second, ... crash; one crash more than that within the window, and it is given up. */
  readonly restartDelaysMs: readonly number[];
  /** After this much uptime a crash is answered with a restart at once. */
  readonly steadyUptimeMs: number;
  readonly crashWindowMs: number;
  /** A call for a server that is down tries it at most this often. */
  readonly callRetryMs: number;
  /** A call for a server that was given up tries it at most this often. */
  readonly failedRetryMs: number;
}

export interface Limits {
  readonly requestBodyBytes: number;
  readonly upstreamMessageBytes: number;
  readonly resultBytes: number;
  readonly jsonDepth: number;
  readonly bodyTimeoutMs: number;
  readonly sessions: number;
  readonly sessionIdleMs: number;
  readonly stdinQueueBytes: number;
  readonly listPages: number;
  readonly listItems: number;
  readonly contentBlocks: number;
  readonly concurrentCalls: number;
  readonly callsPerSecond: number;
  readonly openStreams: number;
  readonly parkedCalls: number;
  readonly clientInstances: number;
  readonly parkedMs: number;
}

export interface NamespaceSettings {
  readonly enabled: boolean;
  readonly maxLoaded: number;
  readonly cacheTtlMs: number;
  readonly preload: readonly string[];
  readonly parallelLoading: boolean;
  readonly helpTool: string;
  readonly legacySupport: boolean;
  readonly deprecationWarnings: boolean;
  readonly autoMigration: boolean;
}

/** Overrides of one server for a team or a person: merged template < team < user. */
export interface ServerOverrides {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Paths such as `env.TOKEN` whose value names a variable that is not set. They are left out above and never fall back to the template's. */
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
