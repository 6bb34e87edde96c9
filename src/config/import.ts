import { parseDocument } from "./document.ts";
import { InvalidConfig } from "./problems.ts";
import { parseServerEntry, type ServerEntry } from "./server-entry.ts";
import { findServers } from "./source.ts";
import { hasProcess, type ProcessKind, type RemoteKind } from "./transports.ts";

export interface ImportedServers {
  /** In the order of the file, in our own spelling, ready for `mcpServers`. Variables stay as they were written: no secret is copied. */
  readonly servers: ReadonlyMap<string, ImportedServer>;
  readonly warnings: readonly string[];
}

export type ImportedServer = Readonly<Record<string, unknown>>;

/**
 * Reads the servers of another client's file: Claude Desktop, Claude Code, Cursor, Windsurf, Cline, Gemini (`mcpServers`) and
 * VS Code (`servers`, `mcp.servers`). Throws GatewayError CONFIG_INVALID with `file:line:column`, also for keys like
 * `__proto__` (fault 93). What else stands in the file is left alone.
 */
export function importServers(text: string, fileName: string): ImportedServers {
  const document = parseDocument(text, fileName);
  if (document.wrongKeys.length > 0) throw new InvalidConfig(document.wrongKeys.map(({ problem }) => problem));
  const warnings: string[] = [];
  const servers = new Map<string, ImportedServer>();
  for (const { key, path } of findServers(document)) {
    if (servers.has(key))
      warnings.push(
        `${document.place(path)}: server ${JSON.stringify(key)} stands in this file twice; the first is kept`,
      );
    else servers.set(key, toWritten(parseServerEntry(document.value(path), { document, path }, warnings)));
  }
  return { servers, warnings };
}

/** The entry as our own file has it. */
function toWritten({ enabled, transport, ...rest }: ServerEntry): ImportedServer {
  const fields = hasProcess(transport) ? stdioFields(transport) : httpFields(transport);
  const all = { ...fields, ...rest, ...(enabled ? {} : { enabled: false }) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

type Written<Kind> = Extract<ServerEntry["transport"], { kind: Kind }>;

function stdioFields({ command, args, env, envFile, cwd }: Written<ProcessKind>) {
  return { command, args: args.length > 0 ? args : undefined, env: unlessEmpty(env), envFile, cwd };
}

function httpFields({ kind, url, headers }: Written<RemoteKind>) {
  return { type: kind, url, headers: unlessEmpty(headers) };
}

function unlessEmpty(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  return Object.keys(record).length > 0 ? record : undefined;
}
