import type { IncomingMessage, ServerResponse } from "node:http";

// What `import { createGateway } from "toolyard"` gives, in types of its own: they are published, and import nothing
// of ours.

/** What a gateway is made from. */
export interface GatewayOptions {
  /**
   * The configuration, as in a file: `{ mcpServers: { ... }, toolyard: { ... } }`. Relative paths in it start at
   * `cwd`. Without it and without `configFile`, the usual files are looked for, as `toolyard serve` does.
   */
  readonly config?: object | undefined;
  /** Path of the configuration file. It is read once; later changes have no effect. */
  readonly configFile?: string | undefined;
  /**
   * Folder for catalogs, logins and what was learned. Default: the user's own, so that logins made with `toolyard
   * login` apply; what a gateway of a configuration object learns there is deleted when it stops. Gateways that run
   * at the same time should not share a folder.
   */
  readonly dataDir?: string | undefined;
  /**
   * The values of `${NAME}` in the configuration. A safe part of it (PATH, HOME, ...) is passed on to servers.
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
  /** Called with each line, including its line feed. */
  readonly write?: ((line: string) => void) | undefined;
}

/**
 * A running gateway. It installs no signal handlers and prints nothing but its log. End it with `stop`, or with
 * `await using`. Its methods reject with {@link GatewayFailure}.
 */
export interface Gateway extends AsyncDisposable {
  /**
   * A listener for `node:http`: MCP at `/mcp`, REST at `/api`, and the other routes of `toolyard serve`. It checks
   * Host, Origin and tokens itself, and reads the body itself. Where the configuration has no tokens, any client that
   * reaches it is treated as the owner.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Listens by itself instead, at the configuration's address (`toolyard.host`, `toolyard.port`). Port 0 takes any
   * free port.
   */
  listen(address?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /** Resolves when no server is starting any more, whether or not all of them are up. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The servers and their status. */
  servers(): readonly ServerStatus[];
  /** Every tool that can be called now. */
  tools(): readonly Tool[];
  /**
   * The tools that fit a need in plain words, best first. The first search waits up to two seconds for servers whose
   * tools are not known yet.
   */
  search(query: string, options?: SearchOptions): Promise<readonly FoundTool[]>;
  /**
   * Calls a tool by its path (`server:tool`) or another spelling. Checks the arguments, and starts the tool's server
   * if necessary.
   */
  call(tool: string, args?: object, options?: CallOptions): Promise<CallResult>;
  /**
   * Accepts nothing new, lets running calls finish, and stops all servers; at once when the signal aborts. Never
   * rejects.
   */
  stop(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** One tool, as its server describes it. */
export interface Tool {
  /** `server:tool`, the name to call it by. */
  readonly path: string;
  readonly server: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface FoundTool extends Tool {
  /** 1 is a perfect match, 0 is none. */
  readonly relevance: number;
}

export interface SearchOptions {
  /** The most tools to return: 1 to 50. Default: 10. */
  readonly limit?: number | undefined;
  /** Only tools of this server. */
  readonly server?: string | undefined;
  /** Only tools that declare that they change nothing. */
  readonly readOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions {
  /** Cancels the call, also at the server. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the call, where the server reports it. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What the tool answered. A tool that failed sets `isError`; a call that could not be made rejects. */
export interface CallResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** One of MCP's content blocks: a text, an image, a resource. */
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly [key: string]: unknown;
}

export interface ServerStatus {
  readonly name: string;
  readonly title: string;
  readonly status: string;
  /** Whether its process is stopped for now. A call starts it. */
  readonly dormant: boolean;
  /** One sentence that explains the status. */
  readonly reason: string;
  /** How many of its tools can be called. */
  readonly tools: number;
}

/** Why something could not be done. docs/errors.md lists the codes. */
export interface GatewayFailure extends Error {
  readonly code: string;
  /** What to do about it. */
  readonly hint: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}
