import type { IncomingMessage, ServerResponse } from "node:http";

// What `import { createGateway } from "toolyard"` gives, in types of its own: they are published, and import nothing
// of ours.

/** What a gateway is made from. */
export interface GatewayOptions {
  /**
   * The configuration, as in a file: `{ mcpServers: { ... }, toolyard: { ... } }`. Relative paths in it start at
   * `cwd`. Without it and without `configFile` the usual files are looked for, as `toolyard serve` does.
   */
  readonly config?: object | undefined;
  /** Path of the configuration file. It is read once; what changes in it afterwards has no effect. */
  readonly configFile?: string | undefined;
  /**
   * Folder for what is kept: catalogs, logins, what was learned. Default: the user's own, so that logins of `toolyard
   * login` hold; what a gateway of a configuration object learns is then forgotten when it stops. Gateways that run
   * at the same time should not share one.
   */
  readonly dataDir?: string | undefined;
  /**
   * What `${NAME}` in the configuration means, and what a safe part of is handed to servers (PATH, HOME, ...).
   * Default: `process.env`.
   */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where relative paths start. Default: `process.cwd()`. */
  readonly cwd?: string | undefined;
  /** The log: JSON lines without secrets. Default: level `warn`, on stderr. */
  readonly log?: LogOptions | undefined;
}

export interface LogOptions {
  readonly level?: "silent" | "error" | "warn" | "info" | "debug" | undefined;
  /** Called with each line, which ends with a line feed. */
  readonly write?: ((line: string) => void) | undefined;
}

/**
 * A running gateway. It installs no signal handlers and prints nothing but its log: end it with `stop`, or with
 * `await using`. Its methods reject with {@link GatewayFailure}.
 */
export interface Gateway extends AsyncDisposable {
  /**
   * A listener for `node:http`: MCP at `/mcp`, REST at `/api`, and the rest of what `toolyard serve` answers. It
   * checks Host, Origin and tokens itself, and reads the body itself. Where the configuration has no tokens, whoever
   * reaches it is the owner.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Listens by itself instead, where the configuration says (`toolyard.host`, `toolyard.port`); port 0 takes any that
   * is free.
   */
  listen(address?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /** Resolves when no server is starting any more, whether it is up or not. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The servers and how they are. */
  servers(): readonly ServerStatus[];
  /** Every tool that can be called now. */
  tools(): readonly Tool[];
  /**
   * The tools that a need in plain words means, best first. The first search waits two seconds for servers that are
   * new.
   */
  search(query: string, options?: SearchOptions): Promise<readonly FoundTool[]>;
  /**
   * Calls a tool by its path (`server:tool`) or another spelling, with checked arguments; starts its server when it
   * has to.
   */
  call(tool: string, args?: object, options?: CallOptions): Promise<CallResult>;
  /** Takes nothing new, lets running calls end, stops all servers. At once where the signal aborts. Never rejects. */
  stop(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** One tool, as its server describes it. */
export interface Tool {
  /** `server:tool`: what to call it by. */
  readonly path: string;
  readonly server: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface FoundTool extends Tool {
  /** 1 is a perfect match, 0 is none. */
  readonly relevance: number;
}

export interface SearchOptions {
  /** Most tools that are found: 1 to 50. Default: 10. */
  readonly limit?: number | undefined;
  /** Only tools of this server. */
  readonly server?: string | undefined;
  /** Only tools that say that they change nothing. */
  readonly readOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions {
  /** Cancels the call, at the server too. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how far the call is, where the server says so. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What the tool answered. A tool that failed says so in `isError`; a call that could not be made rejects. */
export interface CallResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** Text, an image, a resource: MCP's content blocks. */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly [key: string]: unknown;
}

export interface ServerStatus {
  readonly name: string;
  readonly title: string;
  readonly status: string;
  /** It runs when it is called, and not before. */
  readonly dormant: boolean;
  /** One sentence: why it has this status. */
  readonly reason: string;
  /** How many of its tools can be called. */
  readonly tools: number;
}

/** Why something could not be done. The codes are listed in docs/errors.md. */
export interface GatewayFailure extends Error {
  readonly code: string;
  /** What to do about it. */
  readonly hint: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}
