import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { Config, ServerConfig } from "../config.ts";
import { parseDocument } from "../file/document.ts";
import { buildServers } from "../entry/servers.ts";
import { findServers } from "../file/source.ts";

/** What a template's entry means. */
export interface TemplateServer {
  readonly server: ServerConfig;
  /** Oddities in it, and everything that is wrong. */
  readonly problems: readonly string[];
}

export interface TemplateSurroundings {
  readonly inherited: NonNullable<Config["inherited"]>;
  readonly directory: string;
  readonly fields: unknown;
}

/**
 * Builds the server of a template: an entry as in `mcpServers`, but not of the file. Variables of the gateway's
 * environment are not filled in, because the author of a template is not always the owner of the gateway;
 * `envFile` neither. Pure.
 *
 * @param template `directory` is absolute, and relative paths start there; `fields` are as they were written: variables
 * that they name may be missing
 */
export function buildTemplateServer(
  key: string,
  entry: unknown,
  { inherited, directory, fields }: TemplateSurroundings,
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
    later: variableNames(fields),
  };
  const { servers, problems, warnings } = buildServers(findServers(document), source);
  const [server] = servers;
  return server && { server, problems: [...problems, ...warnings] };
}

/** Variables that a template's fields ask for. The fields need not be right. */
function variableNames(fields: unknown): readonly string[] {
  const paths = Array.isArray(fields) ? fields.map((field: unknown) => (isJsonObject(field) ? field["path"] : "")) : [];
  return paths.flatMap((path) => (typeof path === "string" && path.startsWith("env.") ? [path.slice(4)] : []));
}
