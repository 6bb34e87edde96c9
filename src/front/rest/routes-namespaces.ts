import * as z from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import type { NamespaceUse } from "../../engine/namespaces/namespace-usage.ts";
import { cachedAnswer, jsonAnswer } from "./answer.ts";
import { toCachedText, type TextCache } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import { ownRecords, reading } from "../../engine/policy/rights.ts";
import type { RestDeps } from "./deps.ts";
import { restContext } from "./execute.ts";
import { findApp } from "./find-app.ts";
import { answers, executing } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Browse";

const namespaceList = z
  .object({
    namespaces: z.array(
      z.object({
        name: z.string(),
        displayName: z.string(),
        icon: schemas.nullableText,
        category: schemas.nullableText,
        priority: z.enum(["high", "normal", "low"]),
        toolCount: z.int(),
        loaded: z.boolean().describe("For whoever asks."),
      }),
    ),
  })
  .meta({ id: "NamespaceList" });

const appList = z
  .array(
    z.object({
      name: z.string(),
      namespace: z.string(),
      icon: schemas.nullableText,
      category: schemas.nullableText,
      toolCount: z.int(),
      status: z.string().optional().describe("With ?status=true."),
    }),
  )
  .meta({ id: "AppList" });

const appTools = z
  .object({
    namespace: z.string(),
    tools: z.array(schemas.tool),
    metadata: z.object({
      loadedAt: schemas.nullableText.describe("ISO 8601; null when there was no room to keep the namespace loaded."),
      toolCount: z.int(),
      category: schemas.nullableText,
      stale: z.string().optional().describe("Why the tools may be out of date."),
    }),
  })
  .meta({ id: "AppTools" });

const namespaceStats = z
  .object({
    loads: z.int(),
    hits: z.int(),
    evictions: z.int(),
    errors: z.int(),
    load_time_ms: z.number(),
    migrations: z.int(),
    loaded: z.array(z.object({ name: z.string(), loadedAt: z.string() })),
    namespaces: z.array(
      z.object({
        name: z.string(),
        loads: z.int(),
        calls: z.int(),
        last_used_at: z.string(),
        tools: z.record(z.string(), z.int()),
      }),
    ),
  })
  .meta({ id: "NamespaceStatistics" });

/** Routes for browsing: namespaces, apps, and the tools of one of them. */
export function createNamespaceRoutes(deps: RestDeps, cache: TextCache): readonly Route[] {
  return [listNamespaces(deps, cache), listApps(deps, cache), listAppTools(deps), showStatistics(deps)];
}

function listNamespaces(deps: RestDeps, cache: TextCache): Route {
  return route({
    method: "GET",
    path: "/namespaces",
    right: reading,
    operation: {
      id: "listNamespaces",
      tag,
      summary: "All namespaces",
      responses: answers(namespaceList, "The namespaces of the caller.", [304]),
    },
    handle({ principal }) {
      const view = deps.viewOf(principal);
      const make = () => ({
        namespaces: offered(view.servers).map((server) => toNamespace(server, view.loaded.has(server.instance))),
      });
      return cachedAnswer(cache.of(view, "namespaces", make));
    },
  });
}

function listApps(deps: RestDeps, cache: TextCache): Route {
  return route({
    method: "GET",
    path: "/list/apps",
    right: reading,
    query: z.object({ status: schemas.flag }),
    operation: {
      id: "listApps",
      tag,
      summary: "All apps",
      responses: answers(appList, "One per server.", [304]),
    },
    handle({ principal, query: { status } }) {
      const view = deps.viewOf(principal);
      const make = () => offered(view.servers).map((server) => toApp(server, status));
      return cachedAnswer(cache.of(view, `apps ${status}`, make));
    },
  });
}

function listAppTools(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/list/apps/{app}/tools",
    right: reading,
    params: z.object({ app: schemas.name }),
    query: z.object({ namespace: schemas.name.optional() }),
    operation: {
      id: "listAppTools",
      tag,
      summary: "The tools of one app",
      description: "Loads the app's namespace for the caller.",
      responses: answers(appTools, "MCP tool definitions.", [304, ...executing]),
    },
    async handle({ principal, params, query, response }) {
      const view = deps.viewOf(principal);
      const app = findApp(view, params.app, query.namespace);
      const work = { view, context: restContext(principal, abortedWith(response)) };
      const { server, loadedAtMs, stale } = await deps.performer.perform(toListNamespace(app), work);
      const metadata = {
        loadedAt: loadedAtMs === undefined ? null : new Date(loadedAtMs).toISOString(),
        toolCount: server.tools.length,
        category: server.category ?? null,
        ...(stale === undefined ? {} : { stale }),
      };
      const tools = server.tools.map((tool) => tool.definition);
      return cachedAnswer(toCachedText({ namespace: server.namespace, tools, metadata }));
    },
  });
}

/** Lists all tools of an app under the server's own names. */
function toListNamespace(server: ViewServer): Extract<Intent, { kind: "list-namespace" }> {
  return {
    kind: "list-namespace",
    server,
    nameOf: (_view, tool) => tool.definition.name,
    query: undefined,
    cursor: undefined,
  };
}

function showStatistics(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/namespaces/stats",
    right: ownRecords,
    operation: {
      id: "showNamespaceStatistics",
      tag,
      summary: "How namespaces are used",
      responses: answers(
        namespaceStats,
        "The caller's counts since the gateway was started; `uses` include earlier runs.",
      ),
    },
    handle({ principal }) {
      const { servers, loaded } = deps.viewOf(principal);
      const { uses, loadTimeMs, ...counts } = deps.loads.stats(principal);
      const loadedNow = servers.flatMap((server) => {
        const entry = loaded.get(server.instance);
        return entry === undefined
          ? []
          : [{ name: server.namespace, loadedAt: new Date(entry.loadedAtMs).toISOString() }];
      });
      const namespaces = servers.flatMap((server) => {
        const use = uses.get(server.instance);
        return use === undefined ? [] : [toUse(server.namespace, use)];
      });
      const stats = { ...counts, load_time_ms: Math.round(loadTimeMs * 100) / 100, loaded: loadedNow, namespaces };
      return jsonAnswer(stats, { "Cache-Control": "no-store" });
    },
  });
}

function toUse(name: string, use: NamespaceUse): z.output<typeof namespaceStats>["namespaces"][number] {
  return {
    name,
    loads: use.loads,
    calls: use.calls,
    last_used_at: new Date(use.lastUsedAtMs).toISOString(),
    tools: Object.fromEntries(use.tools),
  };
}

/** Servers that are switched off do not count as apps. */
function offered(servers: readonly ViewServer[]): readonly ViewServer[] {
  return servers.filter((server) => server.status !== "disabled");
}

function toNamespace(server: ViewServer, loaded: boolean): z.output<typeof namespaceList>["namespaces"][number] {
  return {
    name: server.namespace,
    displayName: server.title,
    icon: server.icon ?? null,
    category: server.category ?? null,
    priority: server.priority,
    toolCount: server.tools.length,
    loaded,
  };
}

function toApp(server: ViewServer, withStatus: boolean): z.output<typeof appList>[number] {
  return {
    name: server.slug,
    namespace: server.namespace,
    icon: server.icon ?? null,
    category: server.category ?? null,
    toolCount: server.tools.length,
    ...(withStatus ? { status: server.status } : {}),
  };
}
