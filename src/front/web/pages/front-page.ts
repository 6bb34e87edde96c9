import { countText } from "../../../kernel/text/number-text.ts";
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * The facts on the page at `/`. The names of servers are not among them, because they are only for those who have
 * authenticated.
 */
export interface FrontPageFacts {
  readonly version: string;
  /** `http://127.0.0.1:3001`, without a slash at its end. */
  readonly url: string;
  /** Whether a client has to send a token. */
  readonly needsToken: boolean;
  /** How many servers there are, and how many can be used now. Undefined for those who must not know. */
  readonly servers: { readonly all: number; readonly usable: number; readonly tools: number } | undefined;
  /** What a model reads at `/mcp`, and what it would read of all tools. Undefined for those who must not know. */
  readonly tokens: { readonly here: number; readonly flat: number; readonly isExact: boolean } | undefined;
}

/**
 * Answers `GET /` in words. Browsers are led to the dashboard before.
 */
export function answerFrontPage(request: IncomingMessage, response: ServerResponse, facts: FrontPageFacts): void {
  const text = toText(facts);
  response.writeHead(200, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    Vary: "Accept",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

interface Section {
  readonly title: string;
  /** Pairs of a label and what belongs to it: a command, an address, or a piece of configuration. */
  readonly rows: readonly (readonly [label: string, value: string])[];
}

function toState({ servers, tokens, needsToken }: FrontPageFacts): string {
  if (servers === undefined) return needsToken ? "It works. Clients need a token." : "It works.";
  if (servers.all === 0) return "It works, and no server is configured yet.";
  const usable = `It works: ${servers.usable} of ${servers.all} servers can be used, with ${servers.tools} tools.`;
  return tokens === undefined ? usable : `${usable} ${toCost(tokens)}`;
}

function toCost({ here, flat, isExact }: NonNullable<FrontPageFacts["tokens"]>): string {
  const read = `A model reads ${isExact ? "" : "about "}${countText(here)} tokens of definitions`;
  return flat <= here ? `${read}.` : `${read}, instead of ${countText(flat)} for all tools.`;
}

function toSections({ url, needsToken }: FrontPageFacts): readonly Section[] {
  const header = needsToken ? { headers: { Authorization: "Bearer <token>" } } : {};
  const entry = { toolyard: { type: "http", url: `${url}/mcp`, ...header } };
  const flag = needsToken ? ' --header "Authorization: Bearer <token>"' : "";
  return [
    {
      title: "Connect a client",
      rows: [
        ["Claude Code", `claude mcp add --transport http toolyard ${url}/mcp${flag}`],
        ["Cursor and most others, in their MCP settings", JSON.stringify({ mcpServers: entry })],
        ["VS Code, in .vscode/mcp.json", JSON.stringify({ servers: entry })],
      ],
    },
    {
      title: "Addresses",
      rows: [
        ["four tools in front of all servers", `${url}/mcp`],
        ["the dashboard, once `toolyard open` has logged a browser in", `${url}/ui/`],
        ["every tool by name", `${url}/mcp/flat`],
        ["one server as it is", `${url}/mcp/server/<name>`],
        ["the same tools over REST", `${url}/documentation`],
        ["whether it is well", `${url}/healthz`],
      ],
    },
  ];
}

function toText(facts: FrontPageFacts): string {
  const sections = toSections(facts).map(
    ({ title, rows }) => `${title}\n${rows.map(([label, value]) => `  ${label}\n    ${value}\n`).join("")}`,
  );
  return `Toolyard ${facts.version}, an MCP gateway. ${toState(facts)}\n\n${sections.join("\n")}`;
}
