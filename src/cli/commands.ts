import { placedRows, type PlacedRow } from "../config/row-reading.ts";
import { settingsTable } from "../config/settings-table.ts";
import type { CommandContext } from "./command-context.ts";

/** An option: `--name`, or the variable TOOLYARD_NAME. */
export interface Option {
  /** The placeholder for its value in the help. Absent for an option without a value. */
  readonly word?: string | undefined;
  /** One letter that means the same. */
  readonly short?: string;
  /** Whether it may be given several times. Only for an option with a value. */
  readonly isRepeated?: true;
  /** A phrase without a full stop. */
  readonly about: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The parser, the help, docs/cli.md and the loading of a command are all made from its row. */
export interface Command {
  /** How many words it takes besides its options. */
  readonly words: number;
  readonly usage: string;
  readonly about: string;
  readonly options: Options;
  /** What cannot be seen from the options alone. */
  readonly notes?: string;
  /** Called only for the command that was asked for. */
  readonly load: () => Promise<(context: CommandContext) => Promise<number>>;
}

/** The flags of settings: those of every command that reads the configuration, or those of `serve` only. */
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

const matching: Options = {
  match: { word: "T", about: "only those that have these words in their name or description" },
};

const perLine: Options = { json: { about: "print each as one line of JSON" } };

const ofResult: Options = {
  output: { word: "FILE", about: "save images, sound and other data there; where there is none, the text" },
  json: { about: "print the result as it came" },
};

/** What the commands of every day do where no gateway runs. */
const startsOne = `Where no gateway runs with this configuration, one is started in the background. It ends by itself.`;

const principal = (about: string): Options => ({ principal: { word: "NAME", about } });

/** The options that `login` and `logout` share: whose login it is, and at which server. */
const account: Options = {
  config: { word: "FILE", about: "the configuration that names the server" },
  "data-dir": { word: "DIR", about: "where logins are kept" },
  ...principal("whose login it is, for servers that each person uses with a login of their own"),
};

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    words: 0,
    usage: "toolyard [serve] [options]",
    about: "Serves MCP over HTTP, and REST.",
    options: {
      ...common,
      ...settingOptions("serve"),
      "idle-exit": { word: "S", about: "end after this many seconds without use" },
      "log-format": {
        word: "F",
        about:
          "where the log goes: to stderr as json or pretty, or to a file in the data directory (default: json; on a terminal only warnings, with the whole log in a file)",
      },
      verbose: { about: "print one line for each call" },
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
  import: {
    words: 0,
    usage: "toolyard import [options]",
    about: "Takes over the servers that AI clients on this machine have, after showing what would change.",
    options: {
      config: { word: "FILE", about: "the configuration to add to (default: toolyard.json here, then the user's)" },
      from: { word: "CLIENT", about: "only the servers of this client, such as cursor or claude-desktop" },
      secrets: {
        word: "WAY",
        about:
          "how secrets in clients' files are written: keep (as they are) or variables (default: asked; keep with --yes)",
      },
      yes: { about: "do it without asking" },
      "dry-run": { about: "only show what would be done" },
      json: { about: "print one JSON object" },
    },
    notes: `Nothing is started, and clients' files are not changed. The configuration's comments and order stay, and
a backup stands beside it. Without a terminal and without --yes, it ends with code 2 when there is something to do.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.import,
  },
  clients: {
    words: 0,
    usage: "toolyard clients [options]",
    about: "Lists the AI clients on this machine, their files, and which gateway they are connected to.",
    options: { ...common, json: { about: "print one JSON object" } },
    load: async () => (await import("./short-commands.ts")).shortCommands.clients,
  },
  search: {
    words: Number.POSITIVE_INFINITY,
    usage: 'toolyard search "words" [options]',
    about: "Finds tools as a model that asks this would, best first.",
    options: {
      ...common,
      explain: { about: "say why each was found: words, fields, and their shares of the score" },
      limit: { word: "N", about: "how many, 1 to 50 (default: 10)" },
      server: { word: "S", about: "only tools of this server" },
      json: { about: "print one JSON object" },
    },
    notes: `The number beside a tool is a distance: 0 is a perfect match, 1 is none. Nothing is learned from what is tried
here. ${startsOne}`,
    load: async () => (await import("./short-commands.ts")).shortCommands.search,
  },
  call: {
    words: Number.POSITIVE_INFINITY,
    usage: "toolyard call <tool> [name=value ... | JSON | -] [options]",
    about: "Calls a tool, and prints its result.",
    options: { ...common, ...ofResult },
    notes: `The tool in any spelling, such as server:tool. Arguments:
  name=value       read as the tool's schema says: a text, a number, true or false
  name=a name=b    a list
  name.part=value  a member of an object
  name=@FILE       the text of a file
  name:=JSON       any JSON, such as n:=[1,2]
  '{"name":1}'     all of them as one JSON object; - reads it from stdin
What a server asks in the middle of a call is asked on the terminal, and declined where there is none. Ctrl-C cancels
the call. Ends with code 1 when the tool failed; its text is on stderr then.
${startsOne}`,
    load: async () => (await import("./short-commands.ts")).shortCommands.call,
  },
  tools: {
    words: 1,
    usage: "toolyard tools [server] [options]",
    about: "Lists tools, with what they do by their own account and what their definitions cost a model.",
    options: { ...common, ...matching, ...perLine },
    notes: startsOne,
    load: async () => (await import("./short-commands.ts")).shortCommands.tools,
  },
  show: {
    words: 1,
    usage: "toolyard show <tool> [options]",
    about: "Shows what is known of one tool: what it takes, says of itself, costs, and how it is used.",
    options: { ...common, json: { about: "print one JSON object, with the whole definition" } },
    notes: startsOne,
    load: async () => (await import("./short-commands.ts")).shortCommands.show,
  },
  resources: {
    words: 1,
    usage: "toolyard resources [server] [options]",
    about: "Lists resources and templates, with URIs as `toolyard read` takes them.",
    options: { ...common, ...matching, ...perLine },
    notes: startsOne,
    load: async () => (await import("./short-commands.ts")).shortCommands.resources,
  },
  read: {
    words: 1,
    usage: "toolyard read <uri> [options]",
    about: "Reads a resource by any form of its URI.",
    options: { ...common, ...ofResult },
    notes: startsOne,
    load: async () => (await import("./short-commands.ts")).shortCommands.read,
  },
  prompts: {
    words: 1,
    usage: "toolyard prompts [server] [options]",
    about: "Lists prompts, under the names that clients see.",
    options: { ...common, ...matching, ...perLine },
    notes: startsOne,
    load: async () => (await import("./short-commands.ts")).shortCommands.prompts,
  },
  completion: {
    words: 1,
    usage: "toolyard completion <shell>",
    about: "Prints a script that completes commands, options, servers and tools: bash, zsh, fish or powershell.",
    options: {},
    notes: `bash: add \`source <(toolyard completion bash)\` to ~/.bashrc, or for zsh, with \`zsh\`, to ~/.zshrc after compinit.
fish: toolyard completion fish > ~/.config/fish/completions/toolyard.fish
PowerShell: add \`toolyard completion powershell | Out-String | Invoke-Expression\` to $PROFILE.
Servers and tools are those that a gateway has seen: nothing is started.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.completion,
  },
  login: {
    words: 1,
    usage: "toolyard login <server> [options]",
    about: "Logs in to a remote server in the browser; the running gateway notices by itself.",
    options: {
      ...account,
      "no-browser": { about: "only print the address" },
      scope: { word: "S", about: "request these scopes in addition to those of the last login" },
      "client-id": {
        word: "ID",
        about: "a client that you registered yourself; put its secret in TOOLYARD_CLIENT_SECRET",
      },
      "client-metadata-url": { word: "URL", about: "the address of a client ID metadata document that you host" },
      "callback-port": { word: "P", about: "port on 127.0.0.1 for the browser's answer (default: any)" },
    },
    notes: `Logins are kept in the data directory, encrypted with a key file beside them or with TOOLYARD_KEY
(32 bytes in base64, or a passphrase; set the same one for the gateway).`,
    load: async () => (await import("./short-commands.ts")).shortCommands.login,
  },
  logout: {
    words: 1,
    usage: "toolyard logout <server> [options]",
    about: "Forgets a login, and revokes it if the authorization server supports that.",
    options: account,
    load: async () => (await import("./short-commands.ts")).shortCommands.logout,
  },
  status: {
    words: 0,
    usage: "toolyard status [options]",
    about: "Lists the servers of the running gateway with their status, and what to do about them.",
    options: {
      ...common,
      watch: { about: "go on, and show every change" },
      json: { about: "print one JSON object for each gateway, or with --watch for each change" },
    },
    load: async () => (await import("./short-commands.ts")).shortCommands.status,
  },
  servers: {
    words: Number.POSITIVE_INFINITY,
    usage: "toolyard servers [add|remove|enable|disable|test] [NAME] [options]",
    about: "Lists the servers; adds, removes, switches and tries them.",
    options: {
      ...common,
      env: {
        word: "K=V",
        isRepeated: true,
        about: "add: a variable of the server; with a name of the registry, also any other value that it needs",
      },
      header: { word: "K=V", isRepeated: true, about: "add: a header that is sent to a URL" },
      sse: { about: "add: the URL speaks the older transport SSE" },
      from: {
        word: "KIND",
        about: "add: which of the things that the registry offers: npm, pypi, oci, nuget or remote",
      },
      "literal-secrets": { about: "add: write secrets into the file instead of a reference to a variable" },
      "no-test": { about: "add: do not start the server to try it" },
      force: { about: "add: write the entry even if the server cannot be used" },
      json: { about: "print JSON: one object, with `test` one line for each server" },
    },
    notes: `\`add NAME -- command args…\` starts a command, \`add NAME URL\` reaches an address. \`add npm:package\`, \`add
pypi:package\` and \`add io.github.owner/server\` (the MCP registry) work without a name. An added server is started
first, and only written if it answers. A running gateway applies what is written at once. See [servers](servers.md).`,
    load: async () => (await import("./short-commands.ts")).shortCommands.servers,
  },
  config: {
    words: 1,
    usage: "toolyard config check|show|diff|schema [options]",
    about: "Checks the configuration, and shows what is in force and where it comes from.",
    options: {
      ...common,
      ...settingOptions("serve"),
      origins: { about: "show: where each value comes from: a place in the file, a flag, a variable, or the default" },
      json: { about: "print one JSON object" },
    },
    notes: `\`check\` lists every problem with line and column, and ends with code 2 if there is one. \`diff\` compares the file
with what the running gateway has in force. \`schema\` prints the JSON Schema of the file, for editors.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.config,
  },
  doctor: {
    words: 0,
    usage: "toolyard doctor [options]",
    about: "Looks for what may be wrong, and says what to do about it.",
    options: {
      ...common,
      "no-start": { about: "start no server to try it" },
      json: { about: "print one JSON object" },
    },
    notes: `Ends with code 1 when something has to be repaired. Servers of a running gateway are taken as it has them; without
one they are started, tried and stopped again.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.doctor,
  },
  calls: {
    words: 0,
    usage: "toolyard calls [options]",
    about: "Lists the calls of the running gateway, with who called, what came of it, and what it cost.",
    options: {
      ...common,
      follow: { short: "f", about: "go on with those that come" },
      failed: { about: "only those that did not go well" },
      server: { word: "S", about: "only those of this server or instance" },
      tool: { word: "T", about: "only those of this tool, such as `github:create_issue`" },
      limit: { word: "N", about: "how many of those that there are already (default: 20; with -f 10)" },
      json: { about: "print each as one line of JSON" },
    },
    load: async () => (await import("./short-commands.ts")).shortCommands.calls,
  },
  logs: {
    words: 1,
    usage: "toolyard logs [server|instance] [options]",
    about: "Shows what servers of the running gateway wrote to stderr, and sent as log messages.",
    options: {
      ...common,
      follow: { short: "f", about: "go on with the lines that come" },
      level: { word: "L", about: "only lines of this level and worse: debug, info, warning, error" },
      limit: { word: "N", about: "how many of the lines that there are already (default: 100; with -f 10)" },
      json: { about: "print each as one line of JSON" },
    },
    load: async () => (await import("./short-commands.ts")).shortCommands.logs,
  },
  tokens: {
    words: 0,
    usage: "toolyard tokens [options]",
    about: "Shows what tools cost a model in tokens, and what finding them saves.",
    options: { ...common, json: { about: "print one JSON object for each gateway" } },
    notes: `Counted as o200k counts; other models differ by up to 10 to 20 %. What is marked with ~ is an estimate.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.tokens,
  },
  restart: {
    words: 1,
    usage: "toolyard restart <server|instance> [options]",
    about: "Restarts a server in the running gateway, even one that was given up after crashes.",
    options: common,
    load: async () => (await import("./short-commands.ts")).shortCommands.restart,
  },
  stop: {
    words: 0,
    usage: "toolyard stop [options]",
    about: "Stops the running gateway after the calls in progress have been answered.",
    options: common,
    load: async () => (await import("./short-commands.ts")).shortCommands.stop,
  },
  events: {
    words: 0,
    usage: "toolyard events -f [options]",
    about: "Prints what happens in the running gateway, as it happens.",
    options: {
      ...common,
      follow: { short: "f", about: "go on until the gateway ends or the command is interrupted" },
      types: { word: "T,T", about: "only these types, such as `mcp.server.*,auth.denied` (default: all)" },
      json: { about: "print each event as one line of JSON" },
    },
    load: async () => (await import("./short-commands.ts")).shortCommands.events,
  },
  audit: {
    words: 1,
    usage: "toolyard audit [verify|export] [options]",
    about: "Lists who changed what and who was denied, checks that nobody tampered with that, or exports it.",
    options: {
      ...common,
      action: { word: "A", about: "only entries of this action, such as `config.apply`" },
      limit: { word: "N", about: "the newest so many (default: 50; an export has all)" },
      format: { word: "F", about: "of an export: ndjson (default) or csv" },
      json: { about: "one line of JSON for each entry" },
    },
    notes: `\`verify\` ends with code 1 when an entry was changed or removed, and says which. When no gateway runs, the
files are read directly; two gateways that run are told apart by --config.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.audit,
  },
  token: {
    words: 1,
    usage: "toolyard token new [--principal NAME]",
    about: "Makes a bearer token, and prints it once with its hash for the configuration.",
    options: principal("whose token it is (default: the local user's)"),
    load: async () => (await import("./short-commands.ts")).shortCommands.token,
  },
};

/**
 * Variables that are neither an option's nor a setting's, for docs/cli.md.
 *
 * @public
 */
export const otherVariables: Readonly<Record<string, string>> = {
  TOOLYARD_KEY:
    "the key that encrypts logins, instead of a key file: 32 bytes in base64, or a passphrase; it must be the same for `login` and the gateway",
  TOOLYARD_CLIENT_SECRET: "the secret of the client that `toolyard login --client-id` names",
  TOOLYARD_INPUT_ID:
    "the value of VS Code's `${input:id}`: the identifier is written in capitals, with `_` for other characters",
};

/** Options of every command. */
export const anyCommandOptions = {
  help: { short: "h", about: "what the command does, and its options" },
  version: { short: "v", about: "the version" },
} as const;
