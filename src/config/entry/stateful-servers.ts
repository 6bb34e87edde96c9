import type { HttpTransport, StdioTransport, Transport } from "../config.ts";
import { launchedBy } from "./launched-server.ts";
import { hasProcess } from "./transports.ts";

type Starter = Transport | Pick<StdioTransport, "kind" | "command" | "args"> | Pick<HttpTransport, "kind">;

/** Servers of one kind, and the state that is lost when their process ends. */
export interface StatefulGroup {
  readonly title: string;
  /** What such a server holds for its users, in words for people. */
  readonly holds: string;
  /** Packages of the npm registry. */
  readonly npm: readonly string[];
  /** Packages of PyPI, with their names normalised as PyPI does: lower case and dashes. */
  readonly pypi: readonly string[];
  /** Container images, without registry and tag. */
  readonly images: readonly string[];
  /** Programs, by their name in PATH, in `node_modules/.bin` or in a virtual environment. */
  readonly commands: readonly string[];
}

/**
 * Servers that are known to hold state between calls. An entry that starts one of them counts as `stateful: true`
 * unless it says otherwise. docs/stateful-servers.md is made from this table. Every name is that of an existing
 * package, image or program.
 */
export const statefulServers: readonly StatefulGroup[] = [
  {
    title: "Browsers",
    holds: "open pages, logins, what was typed",
    npm: [
      "@playwright/mcp",
      "@executeautomation/playwright-mcp-server",
      "@automatalabs/mcp-server-playwright",
      "playwright-mcp",
      "@modelcontextprotocol/server-puppeteer",
      "puppeteer-mcp-server",
      "chrome-devtools-mcp",
      "@browsermcp/mcp",
      "@browserbasehq/mcp-server-browserbase",
      "@agent-infra/mcp-server-browser",
      "@angiejones/mcp-selenium",
      "@agentdeskai/browser-tools-mcp",
    ],
    pypi: [
      "browser-use",
      "browser-use-mcp-server",
      "mcp-server-browser-use",
      "mcp-browser-use",
      "browser-use-mcp",
      "playwright-mcp",
      "mcp-playwright",
      "mcp-selenium",
      "mcp-server-selenium",
      "selenium-mcp-server",
      "camoufox-mcp-server",
      "nodriver-mcp",
    ],
    images: ["mcp/playwright", "mcp/puppeteer", "mcr.microsoft.com/playwright/mcp"],
    commands: [
      "mcp-server-playwright",
      "playwright-mcp",
      "playwright-mcp-server",
      "mcp-server-puppeteer",
      "chrome-devtools-mcp",
      "browser-use",
    ],
  },
  {
    title: "Shells and remote shells",
    holds: "running commands, working directories, connections",
    npm: [
      "@wonderwhy-er/desktop-commander",
      "mcp-server-commands",
      "@mako10k/mcp-shell-server",
      "ssh-mcp",
      "mcp-ssh-manager",
    ],
    pypi: [
      "mcp-shell-server",
      "mcp-server-shell",
      "cli-mcp-server",
      "terminal-controller",
      "terminal-mcp",
      "mcp-ssh",
      "mcp-server-ssh",
      "ssh-mcp",
      "ssh-mcp-server",
    ],
    images: ["mcp/desktop-commander"],
    commands: ["desktop-commander", "mcp-server-commands", "mcp-shell-server", "ssh-mcp"],
  },
  {
    title: "REPLs and notebooks",
    holds: "variables, imports, loaded data",
    npm: [],
    pypi: [
      "jupyter-mcp-server",
      "mcp-server-jupyter",
      "jupyter-mcp",
      "ipython-mcp",
      "ipybox",
      "mcp-python-repl",
      "mcp-repl",
      "mcp-python",
      "matlab-mcp",
      "matlab-mcp-server",
      "mcp-stata",
      "stata-mcp",
    ],
    images: ["datalayer/jupyter-mcp-server"],
    commands: ["jupyter-mcp-server", "ipython-mcp", "mcp-python-repl"],
  },
  {
    title: "Debuggers",
    holds: "the program that is debugged, breakpoints",
    npm: ["@debugmcp/mcp-debugger"],
    pypi: ["mcp-pdb", "pdb-mcp", "gdb-mcp", "dap-mcp", "mcp-windbg", "ida-pro-mcp", "pyghidra-mcp", "frida-mcp"],
    images: ["debugmcp/mcp-debugger"],
    commands: ["mcp-debugger", "mcp-pdb", "gdb-mcp", "dap-mcp", "mcp-windbg"],
  },
  {
    title: "Database connections",
    holds: "connections, transactions, temporary tables",
    npm: [
      "@modelcontextprotocol/server-postgres",
      "@henkey/postgres-mcp-server",
      "@benborla29/mcp-server-mysql",
      "@modelcontextprotocol/server-redis",
      "@gongrzhe/server-redis-mcp",
      "mongodb-mcp-server",
      "mcp-mongo-server",
      "@bytebase/dbhub",
      "@executeautomation/database-server",
      "mcp-sqlite",
      "mcp-server-sqlite-npx",
      "mssql-mcp",
    ],
    pypi: [
      "postgres-mcp",
      "mcp-server-postgres",
      "mysql-mcp-server",
      "mcp-server-mysql",
      "mcp-server-sqlite",
      "mcp-sqlite",
      "mcp-server-duckdb",
      "mcp-server-motherduck",
      "redis-mcp-server",
      "mcp-server-redis",
      "mongo-mcp",
      "mcp-neo4j-cypher",
      "mcp-clickhouse",
      "mcp-alchemy",
      "mssql-mcp-server",
      "microsoft-sql-server-mcp",
      "oracle-mcp-server",
      "mcp-snowflake-server",
    ],
    images: [
      "mcp/postgres",
      "mcp/sqlite",
      "mcp/redis",
      "mcp/mongodb",
      "mongodb/mongodb-mcp-server",
      "crystaldba/postgres-mcp",
      "bytebase/dbhub",
    ],
    commands: [
      "mcp-server-postgres",
      "mcp-server-redis",
      "mcp-server-sqlite",
      "mcp-server-mysql",
      "mongodb-mcp-server",
      "postgres-mcp",
      "dbhub",
    ],
  },
];

/**
 * Servers that are known to keep files where they run: an entry that starts one of them has `files: "node"` unless it
 * says otherwise. Like the table above in all else.
 */
export const fileServers: readonly StatefulGroup[] = [
  {
    title: "Files and folders",
    holds: "the folders of the machine where they run",
    npm: [
      "@modelcontextprotocol/server-filesystem",
      "@wonderwhy-er/desktop-commander",
      "@cyanheads/git-mcp-server",
      "@negokaz/excel-mcp-server",
    ],
    pypi: ["mcp-server-git", "excel-mcp-server", "office-word-mcp-server", "office-powerpoint-mcp-server"],
    images: [],
    commands: ["mcp-server-filesystem", "mcp-server-git"],
  },
  {
    title: "Memories in a file",
    holds: "what they were told to remember",
    npm: ["@modelcontextprotocol/server-memory", "@allpepper/memory-bank-mcp"],
    pypi: ["basic-memory"],
    images: [],
    commands: ["mcp-server-memory"],
  },
  {
    title: "Databases in a file",
    holds: "a database of their own",
    npm: ["mcp-sqlite", "mcp-server-sqlite-npx"],
    pypi: ["mcp-server-sqlite", "mcp-sqlite", "mcp-server-duckdb"],
    images: [],
    commands: ["mcp-server-sqlite"],
  },
];

/**
 * Whether this starts one of the servers that are known to hold state. Never true for a remote server, because the
 * gateway does not start it.
 */
export function isKnownStateful(transport: Starter): boolean {
  return startsOneOf(statefulServers, transport);
}

/** Whether this starts one of the servers that are known to keep files. Never true for a remote server. */
export function isKnownToKeepFiles(transport: Starter): boolean {
  return startsOneOf(fileServers, transport);
}

function startsOneOf(table: readonly StatefulGroup[], transport: Starter): boolean {
  if (!hasProcess(transport)) return false;
  return launchedBy(transport.command, transport.args).some(({ from, name }) =>
    table.some((group) => group[from].includes(name)),
  );
}
