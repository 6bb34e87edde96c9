import { countText } from "../../kernel/count-text.ts";
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { escapeHtml } from "../http/escape-html.ts";

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
 * Answers `GET /`: a small page for browsers, and the same as plain text for everybody else. It contains no script
 * and loads nothing.
 */
export function answerFrontPage(request: IncomingMessage, response: ServerResponse, facts: FrontPageFacts): void {
  const isPage = (request.headers.accept ?? "").includes("text/html");
  const text = isPage ? toPage(facts) : toText(facts);
  response.writeHead(200, {
    "Content-Type": `${isPage ? "text/html" : "text/plain"}; charset=utf-8`,
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    Vary: "Accept",
    "Content-Security-Policy": `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
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
      title: "What is where",
      rows: [
        ["four tools in front of all servers", `${url}/mcp`],
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

const style =
  ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:46rem;margin:3rem auto;padding:0 1rem}" +
  "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}dt{margin-top:.8rem}dd{margin:.2rem 0 0}" +
  "code{font:14px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}";
const styleHash = `sha256-${createHash("sha256").update(style).digest("base64")}`;

function toPage(facts: FrontPageFacts): string {
  const sections = toSections(facts).map(
    ({ title, rows }) =>
      `<h2>${escapeHtml(title)}</h2><dl>${rows
        .map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd><code>${escapeHtml(value)}</code></dd>`)
        .join("")}</dl>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Toolyard</title><style>${style}</style></head>
<body><main><h1>Toolyard ${escapeHtml(facts.version)}</h1><p>An MCP gateway. ${escapeHtml(toState(facts))}</p>${sections.join("")}</main></body></html>
`;
}
