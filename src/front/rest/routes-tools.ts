import { z } from "zod";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import { readDiscoverArguments } from "../../catalog/exposure/meta-arguments.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { toSignature } from "../../catalog/exposure/signature.ts";
import { resolveTool } from "../../catalog/exposure/tool-lookup.ts";
import { noArguments } from "../../kernel/call-arguments.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { discoverTools } from "../mcp/discover.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText, type TextCache } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { sendJson } from "./json-answer.ts";
import { answers } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Tools and resources"];
/** A program reads what no model could. */
const searchTokens = 100_000;
const limits = { least: 1, most: 1_000, standard: 100 } as const;
const signatureTokens = 160;

export function addToolRoutes(app: RestApp, deps: RestDeps, cache: TextCache): void {
  const listed = answers(z.union([schemas.toolList, schemas.toolSearch]), "Tools.", [304, 404, 429, 503]);
  const description = "With `query` the answer of discover_mcp_tools, best first; without it all tools, in pages.";
  const schema = { tags, summary: "Search tools, or list them", description, querystring: listQuery, response: listed };
  app.get("/api/tools", { schema }, async (request, reply) => {
    const { principal, query } = request;
    if (query.query !== undefined) {
      sendJson(reply, await search(deps, principal, { ...query, query: query.query }, abortedWith(reply.raw)));
      return;
    }
    const view = deps.viewOf(principal);
    const key = `tools ${query.limit} ${query.cursor ?? ""} ${query.server ?? ""} ${query.readOnly}`;
    sendCached(
      request,
      reply,
      cache.of(view, key, () => toToolPage(view, query)),
    );
  });

  const params = z.object({ path: schemas.name.describe("`server:tool`, or another spelling.") });
  const shown = answers(schemas.toolDetails, "The tool.", [304, 404, 409]);
  app.get(
    "/api/tools/:path",
    { schema: { tags, summary: "One tool, by any spelling", params, response: shown } },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      const { tool } = resolveTool(view, request.params.path, noArguments);
      sendCached(request, reply, toCachedText(toDetails(view, tool)));
    },
  );
}

const listQuery = z.object({
  query: schemas.words,
  server: schemas.name.optional(),
  readOnly: schemas.flag,
  detail: z.enum(["names", "signature", "schema"]).optional(),
  limit: schemas.clampedNumber(limits),
  cursor: schemas.cursor,
});

/** The same search as discover_mcp_tools, with room for a program. */
async function search(
  deps: RestDeps,
  principal: Principal,
  wanted: z.output<typeof listQuery> & { query: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const { query, limit, server, readOnly, detail } = wanted;
  const { viewOf, discovery, settled } = deps;
  const asked = readDiscoverArguments({ query, limit, server, readOnly, detail });
  return Buffer.from(
    await discoverTools({ viewOf, discovery, settled, maxTokens: searchTokens }, principal, asked, signal),
    "utf8",
  );
}

interface PageRequest {
  readonly server?: string | undefined;
  readonly readOnly: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

function toToolPage(view: View, request: PageRequest): z.output<typeof schemas.toolList> {
  if (request.cursor !== undefined && !/^\d{1,7}$/.test(request.cursor))
    throw new GatewayError("CURSOR_INVALID", "the cursor is not one that this list gave out");
  const start = Number(request.cursor ?? 0);
  const all = chooseServers(view, request.server)
    .filter((server) => server.shown)
    .flatMap((server) =>
      server.tools
        .filter((tool) => !request.readOnly || tool.definition.annotations?.readOnlyHint === true)
        .map((tool) => ({ server, tool })),
    );
  const end = start + request.limit;
  return {
    tools: all.slice(start, end).map(({ server, tool }) => toSummary(server, tool)),
    total: all.length,
    ...(end < all.length ? { next_cursor: String(end) } : {}),
  };
}

function toSummary(server: ViewServer, { path, definition }: ToolEntry): z.output<typeof schemas.toolSummary> {
  return {
    tool_path: path,
    name: definition.name,
    title: definition.title ?? null,
    description: definition.description ?? null,
    server: server.slug,
    namespace: server.namespace,
    read_only: definition.annotations?.readOnlyHint === true,
    input: toSignature(definition.inputSchema, { maxTokens: signatureTokens }).text,
  };
}

function toDetails(view: View, tool: ToolEntry): z.output<typeof schemas.toolDetails> {
  const namespace = view.server(tool.server)?.namespace ?? tool.server;
  return {
    tool_path: tool.path,
    server: tool.server,
    namespace,
    instance: tool.instance,
    spellings: {
      path: tool.path,
      flat: view.names.flatName(tool),
      double_underscore: view.names.namespacedName(tool),
      dot: `${namespace}.${tool.definition.name}`,
    },
    input: toSignature(tool.definition.inputSchema, { maxTokens: signatureTokens }).text,
    definition: tool.definition,
  };
}
