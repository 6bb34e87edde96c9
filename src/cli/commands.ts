import { clientCommandRows } from "./command/client-command-rows.ts";
import { account, common, elsewhere, settingOptions, type Command } from "./command/command-row.ts";
import { everydayCommandRows } from "./command/everyday-command-rows.ts";
import { installCommandRows } from "./command/install-command-rows.ts";
import { peopleCommandRows } from "./command/people-command-rows.ts";
import { recordCommandRows, upkeepCommandRows } from "./command/record-command-rows.ts";

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
          "where the log goes: to stderr as json or pretty, or to a file in the data directory (default: json; " +
          "on a terminal only warnings, with the whole log in a file)",
      },
      verbose: { about: "print one line for each call" },
    },
    notes: `Without the word serve, on a terminal: asks which servers to start with where there are none, and shows what goes
on in a view that is drawn in place, with the log in its file. Elsewhere there is no difference.`,
    load: async () => (await import("./serve/serve-command.ts")).serve,
  },
  stdio: {
    words: 0,
    usage: "toolyard stdio [options]",
    about: "Serves MCP on stdin and stdout, for clients that start a command.",
    options: {
      ...common,
      profile: { word: "NAME", about: "only what this profile of the configuration has" },
      "in-process": { about: "run everything in this process, without sharing a gateway" },
    },
    load: async () => (await import("./serve/stdio-command.ts")).stdio,
  },
  ...clientCommandRows,
  ...everydayCommandRows,
  login: {
    words: 1,
    usage: "toolyard login <server|URL> [options]\n       toolyard login <server> --gateway URL [options]",
    about:
      "Logs in to a remote server in the browser; the running gateway picks it up. With the URL of a gateway for " +
      "teams, logs you in there.",
    options: {
      ...account,
      gateway: { word: "URL", about: "log in at a server behind this gateway for teams, where you are logged in" },
      "no-browser": { about: "only print the address" },
      device: { about: "without a browser on this machine: prints a code, to be typed in a browser anywhere else" },
      scope: { word: "S", about: "request these scopes in addition to those of the last login" },
      "client-id": {
        word: "ID",
        about: "a client that you registered yourself; put its secret in TOOLYARD_CLIENT_SECRET",
      },
      "client-metadata-url": { word: "URL", about: "the address of a client ID metadata document that you host" },
      "callback-port": { word: "P", about: "port on 127.0.0.1 for the browser's answer (default: any)" },
    },
    notes: `Logins are kept in the data directory, encrypted with a key file beside them or with TOOLYARD_KEY
(32 bytes in base64, or a passphrase; set the same one for the gateway). Those at gateways are kept where --data-dir
says, whatever a configuration does.`,
  },
  logout: {
    words: 1,
    usage: "toolyard logout <server|URL> [options]\n       toolyard logout <server> --gateway URL",
    about: "Forgets a login, and revokes it if the authorization server supports that.",
    options: {
      ...account,
      gateway: { word: "URL", about: "log out at a server behind this gateway for teams, where you are logged in" },
    },
  },
  status: {
    words: 0,
    usage: "toolyard status [options]",
    about: "Lists the servers of the running gateway with their status, and what to do about them.",
    options: {
      ...common,
      ...elsewhere,
      watch: { about: "keep running, and show every change" },
      json: { about: "print one JSON object for each gateway, or with --watch for each change" },
    },
  },
  open: {
    words: 0,
    usage: "toolyard open [options]",
    about: "Opens the dashboard of the running gateway in the browser, logged in.",
    options: { ...common, print: { about: "only print the address" } },
    notes: `The address works once, on this machine, within five minutes. It then logs that browser in for as long as it is used
at least every twelve hours, and for a week at most.`,
  },
  servers: {
    words: Number.POSITIVE_INFINITY,
    usage: "toolyard servers [add|remove|enable|disable|test] [NAME] [options]",
    about: "Lists the servers; adds, removes, enables, disables and tests them.",
    options: {
      ...common,
      env: {
        word: "K=V",
        isRepeated: true,
        about: "add: a variable of the server, or any other value that it takes; secrets are kept encrypted",
      },
      header: { word: "K=V", isRepeated: true, about: "add: a header that is sent to a URL, also as `Name: value`" },
      sse: { about: "add: the URL speaks the older transport SSE" },
      entry: {
        word: "FILE",
        about: "add: the whole entry as JSON, from a file, or from standard input with `-`",
      },
      from: {
        word: "KIND",
        about: "add: which of the things that the registry offers: npm, pypi, oci, nuget or remote",
      },
      "literal-secrets": { about: "add: write secrets into the file instead of keeping them encrypted" },
      sandbox: { about: "add: in a sandbox, in which it is tried first" },
      "no-sandbox": { about: "add: do not propose a sandbox" },
      examples: { about: "add: three servers to try the gateway with, which need no account" },
      "no-test": { about: "add: do not start the server to try it" },
      "dry-run": { about: "add: only try the server, and write nothing" },
      force: { about: "add: write the entry even if the server cannot be used" },
      json: { about: "print JSON: one object, with `test` one line for each server" },
    },
    notes: `\`add NAME -- command args…\` starts a command, \`add NAME URL\` reaches an address. A package, a name of the MCP
registry (\`add io.github.owner/server\`) and a tested server (\`add github\`) need no name. An added server is started
first, and only written if it answers. A running gateway applies the change at once. See [servers](servers.md).`,
  },
  config: {
    words: Number.POSITIVE_INFINITY,
    usage:
      "toolyard config check|show|diff|schema [options]\n       toolyard config keep|forget [NAME] [options]\n       " +
      "toolyard config get|set|unset SERVER [PATH=VALUE ...] --team TEAM [options]",
    about: "Checks the configuration, shows the settings in force, keeps values, and sets those of installed servers.",
    options: {
      ...common,
      ...settingOptions("serve"),
      team: { word: "TEAM", about: "get, set, unset: whose server it is" },
      user: { word: "NAME", about: "get, set, unset: values of this person's own instead of the team's" },
      me: { about: "get, set, unset: your own values, at a gateway where you are logged in (`toolyard login URL`)" },
      ...elsewhere,
      origins: { about: "show: where each value comes from: a line of the file, a flag, a variable, or the default" },
      json: { about: "print one JSON object" },
    },
    notes: `\`check\` lists every problem with line and column, and ends with code 2 if there is one. \`diff\` compares the file
with what the running gateway has in force. \`schema\` prints the JSON Schema of the file, for editors. \`get\`, \`set\`
and \`unset\` are for servers of a gateway for teams; a value \`-\` is read from standard input. \`keep NAME\` asks for the
value of a variable, or reads it from standard input, and keeps it encrypted; see [values](login.md#values-of-variables).`,
  },
  doctor: {
    words: 0,
    usage: "toolyard doctor [options]",
    about: "Looks for problems, and says how to fix them.",
    options: {
      ...common,
      start: { about: "start servers to try them, and try tokens, whose owner's servers start" },
      json: { about: "print one JSON object" },
    },
    notes: `Ends with code 1 when something has to be repaired. Servers of a running gateway are taken as it has them; without
one, --start starts them, tries them and stops them again. Of AI clients it reads the files, and asks the address that they name.`,
  },
  calls: {
    words: 0,
    usage: "toolyard calls [options]",
    about: "Lists the calls of the running gateway, with the caller, the outcome and the cost of each.",
    options: {
      ...common,
      ...elsewhere,
      follow: { short: "f", about: "keep running, and show new calls as they come" },
      failed: { about: "only those that failed" },
      server: { word: "S", about: "only those of this server or instance" },
      tool: { word: "T", about: "only those of this tool, such as `github:create_issue`" },
      node: { word: "ID", about: "only those that this node of a cluster served" },
      limit: { word: "N", about: "how many of the latest calls (default: 20; with -f 10)" },
      json: { about: "print each as one line of JSON" },
    },
  },
  logs: {
    words: 1,
    usage: "toolyard logs [server|instance] [options]",
    about: "Shows what servers of the running gateway wrote to stderr, and sent as log messages.",
    options: {
      ...common,
      ...elsewhere,
      follow: { short: "f", about: "keep running, and show new lines as they come" },
      level: { word: "L", about: "only lines of this level and above: debug, info, warning, error" },
      limit: { word: "N", about: "how many of the latest lines (default: 100; with -f 10)" },
      whole: { about: "lines that are JSON as they were written, instead of the message in them" },
      json: { about: "print each as one line of JSON" },
    },
  },
  tokens: {
    words: 0,
    usage: "toolyard tokens [options]",
    about: "Shows what tools cost a model in tokens, and what finding them saves.",
    options: { ...common, ...elsewhere, json: { about: "print one JSON object for each gateway" } },
    notes: `Counted as o200k counts; other models differ by up to 10 to 20 %. Numbers marked with ~ are estimates.`,
  },
  usage: {
    words: 0,
    usage: "toolyard usage [options]",
    about: "Sums up the calls of the running gateway: how many, how many failed, how long they took, what they cost.",
    options: {
      ...common,
      ...elsewhere,
      by: {
        word: "B,B",
        about:
          "what to group by, up to three of: hour, day, team, principal, server, instance, installation, tool, " +
          "client, code (default: server)",
      },
      days: { word: "N", about: "of the last N days, 1 to 400 (default: 1)" },
      team: { word: "TEAM", about: "only those of this team" },
      server: { word: "S", about: "only those of this server" },
      tool: { word: "T", about: "only those of this tool" },
      limit: { word: "N", about: "how many sums at most (default: 1000)" },
      json: { about: "print one JSON object" },
    },
  },
  service: {
    words: 1,
    usage: "toolyard service install|remove|status",
    about: "Lets the system start the gateway whenever you log in, after showing what it writes.",
    options: {
      ...common,
      "dry-run": { about: "only show what would be done" },
      yes: { short: "y", about: "do not ask" },
    },
    notes: `A systemd user unit on Linux, a launch agent on macOS, a scheduled task on Windows, for you alone. The log is in
the data directory. Without a terminal and without --yes, it ends with code 2 when there is something to do.`,
  },
  restart: {
    words: 1,
    usage: "toolyard restart <server|instance> [options]",
    about: "Restarts a server in the running gateway, even one that failed too often.",
    options: {
      ...common,
      ...elsewhere,
      "files-at": {
        word: "NODE",
        about: "in a cluster, a server that keeps files: they are at that node by now, and it runs there",
      },
    },
  },
  stop: {
    words: 0,
    usage: "toolyard stop [options]",
    about: "Stops the running gateway after the calls in progress have been answered, and waits for its end.",
    options: common,
  },
  ...recordCommandRows,
  ...peopleCommandRows,
  ...installCommandRows,
  ...upkeepCommandRows,
};

/**
 * Variables that are neither an option's nor a setting's, for docs/cli.md.
 *
 * @public
 */
export const otherVariables: Readonly<Record<string, string>> = {
  TOOLYARD_KEY:
    "the key that encrypts logins and secrets, instead of a key file: 32 bytes in base64, a passphrase, or " +
    "`file:` and the path of a file with 32 bytes in base64; it must be the same for `login` and the gateway",
  TOOLYARD_KEY_COMMAND:
    "a command for the shell that prints that key in base64, from a key management service or a keychain",
  TOOLYARD_KEY_PREVIOUS: "the key before it, as `TOOLYARD_KEY`: what was encrypted with that one can still be read",
  TOOLYARD_CLIENT_SECRET: "the secret of the client that `toolyard login --client-id` names",
  TOOLYARD_INPUT_ID:
    "the value of VS Code's `${input:id}`: the identifier is written in capitals, with `_` for other characters",
};

/** Options of every command. */
export const anyCommandOptions = {
  help: { short: "h", about: "what the command does, and its options" },
  version: { short: "v", about: "the version" },
} as const;
