import { placedRows, type PlacedRow } from "../config/row-reading.ts";
import { settingsTable } from "../config/settings-table.ts";
import type { CommandContext } from "./command-context.ts";

/** An option: `--name`, and as TOOLYARD_NAME a variable. */
export interface Option {
  /** What stands for its value in the help; none for one that is on or off. */
  readonly word?: string | undefined;
  /** A phrase without a full stop. */
  readonly about: string;
}

export type Options = Readonly<Record<string, Option>>;

/** Parsing, help, docs/cli.md and loading of a command are made from its row. */
export interface Command {
  /** How many words it takes beside its options. */
  readonly words: 0 | 1;
  readonly usage: string;
  readonly about: string;
  readonly options: Options;
  /** What the options alone do not tell. */
  readonly notes?: string;
  /** Loaded when it is the one that was asked for. */
  readonly load: () => Promise<(context: CommandContext) => Promise<number>>;
}

/** The flags of settings: those of every command that reads the configuration, or those of `serve` alone. */
function settingOptions(which: "common" | "serve"): Options {
  const rows = placedRows(settingsTable).map(({ row }) => row);
  const flags = rows.flatMap((row) =>
    row.flag !== undefined && (row.flag.isCommon === true) === (which === "common")
      ? [[row.flag.name, { word: row.flag.word, about: aboutFlag(row) }] as const]
      : [],
  );
  return Object.fromEntries(flags);
}

function aboutFlag({ about, form, fallback, fallbackText }: PlacedRow["row"]): string {
  if (form.kind === "choice")
    return `${about}: ${form.choices.map((name) => (name === fallback ? `${name} (default)` : name)).join(", ")}`;
  if (form.kind === "boolean") return about;
  return `${about} (default: ${(fallbackText ?? String(fallback)).replaceAll("`", "")})`;
}

const common: Options = {
  config: {
    word: "FILE",
    about: "the configuration file (default: toolyard.json, mcp.json, .mcp.json, then the user's)",
  },
  ...settingOptions("common"),
};

const principal = (about: string): Options => ({ principal: { word: "NAME", about } });

/** Whose login it is at which server: what `login` and `logout` have in common. */
const account: Options = {
  config: { word: "FILE", about: "the configuration that the server is in" },
  "data-dir": { word: "DIR", about: "where logins are kept" },
  ...principal("whose login it is, for servers that everybody has for themselves"),
};

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    words: 0,
    usage: "toolyard [serve] [options]",
    about: "Serves MCP over HTTP, and REST.",
    options: {
      ...common,
      ...settingOptions("serve"),
      "idle-exit": { word: "S", about: "end when nobody has used it for so many seconds" },
      "log-format": {
        word: "F",
        about:
          "where the log goes: to stderr as json or pretty, or to a file of the data directory (default: json; on a terminal warnings, and all of it in the file)",
      },
      verbose: { about: "one line for each call" },
    },
    load: async () => (await import("./serve-command.ts")).serve,
  },
  stdio: {
    words: 0,
    usage: "toolyard stdio [options]",
    about: "Serves MCP on stdin and stdout, for clients that start a command.",
    options: {
      ...common,
      "in-process": { about: "run everything in this process, without sharing a gateway" },
    },
    load: async () => (await import("./stdio-command.ts")).stdio,
  },
  login: {
    words: 1,
    usage: "toolyard login <server> [options]",
    about: "Logs in to a remote server in the browser; the running gateway notices by itself.",
    options: {
      ...account,
      "no-browser": { about: "only print the address" },
      scope: { word: "S", about: "ask for these scopes, beside those of the last login" },
      "client-id": { word: "ID", about: "a client that you registered yourself; its secret in TOOLYARD_CLIENT_SECRET" },
      "client-metadata-url": { word: "URL", about: "a client ID metadata document that you host" },
      "callback-port": { word: "P", about: "port on 127.0.0.1 for the browser's answer (default: any)" },
    },
    notes: `Logins are kept encrypted in the data directory, with a key file beside them or with TOOLYARD_KEY
(32 bytes in base64, or a passphrase; the gateway needs the same).`,
    load: async () => (await import("./login-command.ts")).login,
  },
  logout: {
    words: 1,
    usage: "toolyard logout <server> [options]",
    about: "Forgets a login, and revokes it where the authorization server can do that.",
    options: account,
    load: async () => (await import("./login-command.ts")).logout,
  },
  status: {
    words: 0,
    usage: "toolyard status [options]",
    about: "Lists what the running gateway runs, and how each stands.",
    options: common,
    load: async () => (await import("./control-commands.ts")).status,
  },
  restart: {
    words: 1,
    usage: "toolyard restart <server|instance> [options]",
    about: "Restarts a server in the running gateway, also one that was given up.",
    options: common,
    load: async () => (await import("./control-commands.ts")).restart,
  },
  stop: {
    words: 0,
    usage: "toolyard stop [options]",
    about: "Ends the running gateway: calls are answered first.",
    options: common,
    load: async () => (await import("./control-commands.ts")).stop,
  },
  token: {
    words: 1,
    usage: "toolyard token new [--principal NAME]",
    about: "Makes a bearer token: prints it once, and its hash for the configuration.",
    options: principal("whose token it is (default: the local user's)"),
    load: async () => (await import("./token-command.ts")).token,
  },
};

/**
 * Variables that are neither an option's nor a setting's, for docs/cli.md.
 *
 * @public
 */
export const otherVariables: Readonly<Record<string, string>> = {
  TOOLYARD_KEY:
    "what logins are encrypted with, in place of a key file: 32 bytes in base64, or a passphrase; the same for `login` and the gateway",
  TOOLYARD_CLIENT_SECRET: "the secret of the client that `toolyard login --client-id` names",
  TOOLYARD_INPUT_ID:
    "the value of `${input:id}`, as VS Code's `inputs` have it: the identifier in capitals, other characters as `_`",
};

/** Whichever command it is. */
export const anyCommandOptions = {
  help: { short: "h", about: "what the command does, and its options" },
  version: { short: "v", about: "the version" },
} as const;
