/** The clients whose settings we know. */
export type ClientId =
  | "claude-desktop"
  | "claude-code"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "codex"
  | "gemini"
  | "zed"
  | "cline"
  | "continue"
  | "opencode"
  | "lmstudio"
  | "copilot"
  | "qwen"
  | "kimi";

/** The systems that clients run on. Every other Unix is treated as Linux is. */
export type ClientSystem = "darwin" | "win32" | "linux";

/**
 * For whom settings count: the `user` in every project, everybody in a `project`, or the user in one project
 * (`local`).
 */
export type ClientScope = "user" | "project" | "local";

/** How a file is written. `jsonc` is JSON with comments and trailing commas. */
export type ClientFormat = "json" | "jsonc" | "toml" | "yaml";

/**
 * Where a path begins. `config` is XDG_CONFIG_HOME or `~/.config`, on every system; `roaming` is APPDATA on Windows;
 * `support` is `~/Library/Application Support`, on macOS; `project` is the folder in which a command was typed.
 */
export type PathBase = "home" | "config" | "roaming" | "support" | "project";

/**
 * A path as the table writes it: `home:.cursor/mcp.json`. With `/*` at the end it means every file in that folder
 * that has servers in it: `.yaml`, `.yml` and `.json`.
 */
export type PathTemplate = `${PathBase}:${string}`;

/** A variable that moves a file. */
export interface MovingVariable {
  readonly name: string;
  /** The path of the file within the folder that the variable names. Empty when it names the file itself. */
  readonly within: string;
}

/** In a key path: the absolute path of the project. */
export const projectKey = "{project}";

/** Where a client lists, outside the servers' entries, the servers and tools that are off. */
export interface OffList {
  readonly files: readonly PathTemplate[];
  readonly variable?: MovingVariable;
  readonly keyPath: readonly string[];
  readonly kind: OffKind;
}

/**
 * The kind of list there. `denied`: names of servers that are off. `allowed`: names of the only ones that are on.
 * `rules`:
 * `mcp__server` and `mcp__server__tool`, which are off. `switches`: an object by `server_tool`, with `*` for any
 * characters, where `false` and `"deny"` are off.
 */
export type OffKind = "denied" | "allowed" | "rules" | "switches";

/** One place in which a client keeps servers. */
export interface PlaceRow {
  readonly scope: ClientScope;
  /**
   * By system, or the same on all. All that exist are read; the first is the one that the client itself makes. Absent
   * where the client keeps nothing on that system.
   */
  readonly files: readonly PathTemplate[] | Readonly<Partial<Record<ClientSystem, readonly PathTemplate[]>>>;
  /** In order of precedence. The first one that is set takes the place of all `files`. */
  readonly variables?: readonly MovingVariable[];
  readonly format: ClientFormat;
  /** Where the servers stand: an object by name, or with the dialect `continue` a list. */
  readonly keyPath: readonly string[];
  readonly off?: readonly OffList[];
}

/** How a client writes one server's entry. */
export type EntryDialect =
  /** `command`, `args`, `env`; `url`, `headers`, `type`. What most clients write, with their own additions. */
  | "common"
  /** The same, but a `url` without a `type` is an SSE server. `transportType` in older files. */
  | "cline"
  /** Codex: `env_vars`, `http_headers`, `env_http_headers`, `bearer_token_env_var`. */
  | "codex"
  /** `httpUrl` is a Streamable HTTP server; `url` is tried as one, and then as an SSE server. */
  | "gemini"
  /** `source`, and in older files `command: { path, args, env }`. */
  | "zed"
  /** A list of objects with `name`, and `requestOptions.headers`. */
  | "continue"
  /** `type: "local"`, `command: [...]`, `environment`; `type: "remote"`, `url`. */
  | "opencode"
  /** As most, with `bearerTokenEnvVar`. */
  | "kimi";

/** How a client writes a variable inside a text. `none`: it does not fill in any. */
export type VariableDialect = "none" | "shell" | "editor" | "gemini" | "continue" | "opencode";

/** What a client can do over Streamable HTTP, without a program in between. */
export interface ClientHttp {
  /** The field of the entry that holds the address. */
  readonly addressField: "url" | "serverUrl" | "httpUrl";
  /** What `type` has to say beside it. Undefined where the client needs no `type`. */
  readonly type?: string;
  /** The field for headers, where a token goes. */
  readonly headersField: string;
}

/**
 * How one server is switched off and stays in the file: by a field of its entry, or by its name in a list of the same
 * file.
 */
export type SwitchOff =
  | { readonly field: string; readonly value: boolean }
  | { readonly listedAt: readonly [string, ...string[]] };

/** What the user of a client does after something was taken out of its file: a sentence. */
export function reloadAfterRemoval({ label }: { readonly label: string }): string {
  return `Where ${label} still shows what was there before, restart it.`;
}

/** A field of an entry that says how long the client waits. */
export interface ClientLimit {
  readonly field: string;
  readonly unitMs: 1 | 1_000;
  /** Whether it gives up calls that last, whatever it hears of them, where the entry says nothing. */
  readonly isShort?: true;
}

export interface ClientLimits {
  readonly call: ClientLimit;
  /** For the start of a command. */
  readonly start?: ClientLimit;
}

/** What connecting a client depends on besides its file. */
export interface ClientHabits {
  /** Whether it is started in a terminal, and so finds commands as its user does. */
  readonly isTerminal?: true;
  /** Undefined where it keeps that somewhere else: an entry then has to be taken out. */
  readonly switchOff?: SwitchOff;
  /** What its user does so that it reads the file again: a sentence. */
  readonly reload: string;
  /** Its command for logging in to a server, whose name follows. Undefined where it asks by itself. */
  readonly logInCommand?: string;
  /** What our entry says besides how it is reached, so that the client's model is shown our tools. */
  readonly ownFields?: Readonly<Record<string, unknown>>;
  /** The same, where the client starts a command. */
  readonly commandFields?: Readonly<Record<string, unknown>>;
  /** Where its file lists the servers whose tools its model is shown, as `mcp__name`. */
  readonly shownAt?: readonly [string, ...string[]];
  /** Its limits for us that an entry may have. */
  readonly limits?: ClientLimits;
  /** What its user should know besides: one sentence each. Not for those whose entry is our doing. */
  readonly advice?: readonly string[];
}

/** One AI client. */
export interface ClientRow extends ClientHabits {
  readonly id: ClientId;
  /** Its name for people. */
  readonly label: string;
  readonly places: readonly PlaceRow[];
  readonly entries: EntryDialect;
  readonly variables: VariableDialect;
  /** Undefined where it starts commands only, and therefore needs `toolyard stdio`. */
  readonly http: ClientHttp | undefined;
  /** What it calls itself in `clientInfo.name`, as far as that is known. */
  readonly clientNames: readonly string[];
  /** Where its maker documents the file, or the source that reads it. */
  readonly source: string;
}
