const common = `  --config FILE     configuration (default: toolyard.json, mcp.json, .mcp.json, then the user's)
  --data-dir DIR    where catalogs, tokens and what was learned are kept
  --exposure E      what /mcp shows: meta (default), flat, namespaces, server
  --log-level L     debug, info, warn, error`;

const texts: Readonly<Record<string, { readonly usage: string; readonly about: string; readonly options: string }>> = {
  serve: {
    usage: "toolyard [serve] [options]",
    about: "Serves MCP over HTTP, REST and the dashboard.",
    options: `${common}
  --host H          address to listen on (default 127.0.0.1)
  --port P          port (default 3001; 0 lets the system choose)
  --insecure        listen beyond this machine without a token`,
  },
  stdio: {
    usage: "toolyard stdio [options]",
    about: "Serves MCP on stdin and stdout, for clients that start a command.",
    options: `${common}
  --in-process      run everything in this process, without sharing a gateway`,
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

export function commandHelp(name: string): string {
  const text = texts[name];
  return text === undefined ? generalHelp() : `${text.usage}\n\n${text.about}\n\nOptions\n${text.options}\n`;
}
