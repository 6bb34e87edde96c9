import { z } from "zod";
import type { ToolEntry } from "../../catalog/snapshot.ts";
import type { View, ViewServer } from "../../catalog/view.ts";
import { readDiscoverArguments } from "../../exposure/meta-arguments.ts";
import { renderShared } from "../../exposure/meta.ts";
import { resolveRead } from "../../exposure/native.ts";
import { chooseServers, renderResourceList } from "../../exposure/resource-list.ts";
import { toSignature } from "../../exposure/signature.ts";
import { resolveTool } from "../../exposure/tool-lookup.ts";
import { noArguments } from "../../shared/call-arguments.ts";
import { GatewayError } from "../../shared/gateway-error.ts";
import { discoverTools } from "../mcp/discover.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText, type TextCache } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { relayedFailure, restContext } from "./execute.ts";
import { sendJson } from "./json-answer.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Tools and resources"];
/** A program reads what no model could. */
const searchTokens = 100_000;
const limits = { least: 1, most: 1_000, standard: 100 } as const;
const signatureTokens = 160;

export function addToolRoutes(app: RestApp, deps: RestDeps, cache: TextCache): void {
  app.get(
    "/api/tools",
    {
      schema: {
        tags,
        summary: "Search tools, or list them",
        description: "With `query` the answer of discover_mcp_tools, best first; without it all tools, in pages.",
        querystring: z.object({
          query: schemas.words,
          server: schemas.name.optional(),
          readOnly: schemas.flag,
          detail: z.enum(["names", "signature", "schema"]).optional(),
          limit: schemas.clampedNumber(limits),
          cursor: schemas.cursor,
        }),
        response: answers(z.union([schemas.toolList, schemas.toolSearch]), "Tools.", [304, 404, 429, 503]),
      },
    },
    async (request, reply) => {
      const { principal, query } = request;
      if (query.query === undefined) {
        const view = deps.viewOf(principal);
        sendCached(
          request,
          reply,
          cache.of(view, `tools ${query.limit} ${query.cursor ?? ""} ${query.server ?? ""} ${query.readOnly}`, () =>
            toToolPage(view, query),
          ),
        );
        return;
      }
      const asked = readDiscoverArguments({
        query: query.query,
        limit: query.limit,
        server: query.server,
        readOnly: query.readOnly,
        detail: query.detail,
      });
      const text = await discoverTools(
        { viewOf: deps.viewOf, discovery: deps.discovery, settled: deps.settled, maxTokens: searchTokens },
        principal,
        asked,
        abortedWith(reply.raw),
      );
      sendJson(reply, Buffer.from(text, "utf8"));
    },
  );

  app.get(
    "/api/tools/:path",
    {
      schema: {
        tags,
        summary: "One tool, by any spelling",
        params: z.object({ path: schemas.name.describe("`server:tool`, or another spelling.") }),
        response: answers(schemas.toolDetails, "The tool.", [304, 404, 409]),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      const { tool } = resolveTool(view, request.params.path, noArguments);
      sendCached(request, reply, toCachedText(toDetails(view, tool)));
    },
  );

  app.get(
    "/api/resources",
    {
      schema: {
        tags,
        summary: "Resources and templates of all servers",
        querystring: z.object({ server: schemas.name.optional(), query: schemas.words, cursor: schemas.cursor }),
        response: answers(schemas.resourceList, "As list_mcp_resources answers.", [304, 404]),
      },
    },
    (request, reply) => {
      const { server, query, cursor } = request.query;
      sendCached(
        request,
        reply,
        toCachedText(
          renderResourceList(deps.viewOf(request.principal), { kind: "list-resources", server, query, cursor }),
        ),
      );
    },
  );

  app.get(
    "/api/resources/read",
    {
      schema: {
        tags,
        summary: "Read one resource",
        querystring: z.object({ uri: schemas.name.describe("As the list gives it.") }),
        response: answers(schemas.resourceContents, "Its contents.", executing),
      },
    },
    async (request, reply) => {
      const { principal } = request;
      const view = deps.viewOf(principal);
      const intent = resolveRead(view, request.query.uri, "native");
      if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource");
      const controller = new AbortController();
      const untrack = deps.track(principal, controller);
      try {
        const outcome = await deps.routing.readResource(
          intent.server.instance,
          intent.uri,
          restContext(principal, abortedWith(reply.raw, controller)),
        );
        if (outcome.kind === "error") throw relayedFailure(outcome.error, "RESOURCE_UNKNOWN");
        sendJson(reply, renderShared(view, intent, outcome.result, outcome.parsed));
      } finally {
        untrack();
      }
    },
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
