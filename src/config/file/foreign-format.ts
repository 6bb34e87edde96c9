import { extname } from "node:path";

/** What to do with another client's servers. */
export const copyServers =
  'take them over with `toolyard import`, or copy the servers to { "mcpServers": { "<name>": ' +
  '{ "command": "<program>", "args": [], "env": {} } } }, ' +
  'or { "url": "https://..." } for a remote one';

/** The characters that say in which format a file is. */
const beginning = 65_536;

/**
 * The format that a text which is not JSON seems to have, and what to do about it. Undefined when that cannot be
 * told.
 */
export function foreignFormat(whole: string, fileName: string): string | undefined {
  const source = whole.slice(0, beginning);
  const hasTable = /^[ \t]*\[\[?[\w."' -]+\]\]?[ \t]*(#.*)?$/m.test(source);
  const hasPair = /^[ \t]*[\w."-]+[ \t]*=[ \t]*\S/m.test(source);
  if (!(hasTable && hasPair) && extname(fileName).toLowerCase() !== ".toml") return undefined;
  const whose = /^[ \t]*\[mcp_servers\./m.test(source) ? "this is Codex's configuration, in TOML" : "this is TOML";
  return `${whose}, and Toolyard reads JSON: ${copyServers}`;
}
