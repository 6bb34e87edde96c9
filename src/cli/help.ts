import { defaults } from "../config/defaults.ts";
import { exposureNames } from "../config/exposures.ts";

const choices = exposureNames.map((name) => (name === defaults.exposure ? `${name} (default)` : name)).join(", ");

const common = `  --config FILE     configuration (default: toolyard.json, mcp.json, .mcp.json, then the user's)
  --data-dir DIR    where catalogs, tokens and what was learned are kept
  --exposure E      what /mcp shows: ${choices}
  --log-level L     debug, info, warn, error`;

const account = `  --config FILE     configuration that the server is in
  --data-dir DIR    where logins are kept
  --principal NAME  whose login it is, for servers that everybody has for themselves`;

const texts: Readonly<Record<string, { readonly usage: string; readonly about: string; readonly options: string }>> = {
  serve: {
    usage: "toolyard [serve] [options]",
    about: "Serves MCP over HTTP, and REST.",
    options: `${common}
  --host H          address to listen on (default 127.0.0.1)
  --port P          port (default 3001; 0 lets the system choose)
  --public-url URL  address that clients use, when a proxy stands in front
  --insecure        listen beyond this machine without a token
  --idle-exit S     end when nobody has used it for so many seconds
  --log-format F    json or pretty, on stderr (default: json; on a terminal warnings there, and all of it in a file)
  --verbose         one line for each call`,
  },
  stdio: {
    usage: "toolyard stdio [options]",
    about: "Serves MCP on stdin and stdout, for clients that start a command.",
    options: `${common}
  --in-process      run everything in this process, without sharing a gateway`,
  },
  login: {
    usage: "toolyard login <server> [options]",
    about: "Logs in to a remote server in the browser; the running gateway notices by itself.",
    options: `${account}
  --no-browser      only print the address
  --scope S         ask for these scopes, beside those of the last login
  --client-id ID    a client that you registered yourself; its secret in TOOLYARD_CLIENT_SECRET
  --client-metadata-url URL
                    a client ID metadata document that you host
  --callback-port P port on 127.0.0.1 for the browser's answer (default: any)

Logins are kept encrypted in the data directory, with a key file beside them or with TOOLYARD_KEY
(32 bytes in base64, or a passphrase; the gateway needs the same).`,
  },
  logout: {
    usage: "toolyard logout <server> [options]",
    about: "Forgets a login, and revokes it where the authorization server can do that.",
    options: account,
  },
  status: {
    usage: "toolyard status [options]",
    about: "Lists what the running gateway runs, and how each stands.",
    options: common,
  },
  restart: {
    usage: "toolyard restart <server|instance> [options]",
    about: "Restarts a server in the running gateway, also one that was given up.",
    options: common,
  },
  stop: {
    usage: "toolyard stop [options]",
    about: "Ends the running gateway: calls are answered first.",
    options: common,
  },
  token: {
    usage: "toolyard token new [--principal NAME]",
    about: "Makes a bearer token: prints it once, and its hash for the configuration.",
    options: "  --principal NAME  whose token it is (default: the local user's)",
  },
};

/** What \`toolyard --help\` prints. */
export function generalHelp(): string {
  const lines = Object.values(texts).map(({ usage, about }) => `  ${usage.padEnd(42)} ${about}`);
  return `toolyard: an MCP gateway. One connection, four small tools, every server behind them.

Commands
${lines.join("\n")}

  toolyard <command> --help                  the options of a command
  toolyard --version

Every option is also a variable: --data-dir is TOOLYARD_DATA_DIR, and so on.
`;
}

export function usageOf(name: string): string {
  return `Usage: ${texts[name]?.usage ?? "toolyard --help"}`;
}

export function commandHelp(name: string): string {
  const text = texts[name];
  return text === undefined ? generalHelp() : `${text.usage}\n\n${text.about}\n\nOptions\n${text.options}\n`;
}
