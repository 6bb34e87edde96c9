import type { Config, ServerConfig } from "./config.ts";
import { parseDocument } from "./document.ts";
import { buildServers } from "./servers.ts";
import { findServers } from "./source.ts";

/** What a template's entry means. */
export interface TemplateServer {
  readonly server: ServerConfig;
  /** Oddities in it, and everything that is wrong. */
  readonly problems: readonly string[];
}

/**
 * Builds the server of a template: an entry as in `mcpServers`, but not of the file. Variables of the gateway's
 * environment stand for nothing in it, because whoever writes a template is not always whoever owns the gateway;
 * `envFile` neither. Pure.
 *
 * @param directory absolute; relative paths start there
 */
export function buildTemplateServer(
  key: string,
  entry: unknown,
  inherited: NonNullable<Config["inherited"]>,
  directory: string,
): TemplateServer | undefined {
  const document = parseDocument(JSON.stringify({ mcpServers: { [key]: entry } }), "(template)");
  const { defaults, facts } = inherited;
  const source = {
    document,
    directory,
    variables: {},
    predefined: {},
    envFiles: new Map(),
    inherited: defaults,
    facts,
  };
  const { servers, problems, warnings } = buildServers(findServers(document), source);
  const [server] = servers;
  return server && { server, problems: [...problems, ...warnings] };
}
