import * as z from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import type { NamespaceUse } from "../../engine/namespaces/namespace-usage.ts";
import { ownRecords, reading } from "../../engine/policy/rights.ts";
import { restContext } from "../request/tracked.ts";
import { findApp } from "./execute.ts";
import { answers, executing } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { cached, cachedText } from "../reply.ts";

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
        loaded: z.boolean().describe("For the caller."),
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

const listNamespaces = operation({
  route: "GET /namespaces",
  right: reading,
  id: "listNamespaces",
  tag,
  summary: "All namespaces",
  responses: answers(namespaceList, "The namespaces of the caller.", [304]),
  run(services, { principal }) {
    const view = services.viewOf(principal);
    const make = () => ({
      namespaces: offered(view.servers).map((server) => toNamespace(server, view.loaded.has(server.instance))),
    });
    return cachedText(services.texts.of(view, "namespaces", make));
  },
});

const listApps = operation({
  route: "GET /list/apps",
  right: reading,
  query: z.object({ status: schemas.flag }),
  id: "listApps",
  tag,
  summary: "All apps",
  responses: answers(appList, "One per server.", [304]),
  run(services, { principal, query: { status } }) {
    const view = services.viewOf(principal);
    const make = () => offered(view.servers).map((server) => toApp(server, status));
    return cachedText(services.texts.of(view, `apps ${status}`, make));
  },
});

const listAppTools = operation({
  route: "GET /list/apps/{app}/tools",
  right: reading,
  params: z.object({ app: schemas.name }),
  query: z.object({ namespace: schemas.name.optional() }),
  id: "listAppTools",
  tag,
  summary: "The tools of one app",
  description: "Loads the app's namespace for the caller.",
  responses: answers(appTools, "MCP tool definitions.", [304, ...executing]),
  async run(services, { principal, params, query, signal }) {
    const view = services.viewOf(principal);
    const app = findApp(view, params.app, query.namespace);
    const work = { view, context: restContext(principal, signal) };
    const { server, loadedAtMs, stale } = await services.performer.perform(toListNamespace(app), work);
    const metadata = {
      loadedAt: loadedAtMs === undefined ? null : new Date(loadedAtMs).toISOString(),
      toolCount: server.tools.length,
      category: server.category ?? null,
      ...(stale === undefined ? {} : { stale }),
    };
    const tools = server.tools.map((tool) => tool.definition);
    return cached({ namespace: server.namespace, tools, metadata });
  },
});

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

const showStatistics = operation({
  route: "GET /api/namespaces/stats",
  right: ownRecords,
  id: "showNamespaceStatistics",
  tag,
  summary: "How namespaces are used",
  responses: answers(namespaceStats, "The caller's counts since the gateway was started; `uses` include earlier runs."),
  run(services, { principal }) {
    const { servers, loaded } = services.viewOf(principal);
    const { uses, loadTimeMs, ...counts } = services.namespaces.loads.stats(principal);
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
    return stats;
  },
});

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

/** Routes for browsing: namespaces, apps, and the tools of one of them. */
export const namespaceOperations: readonly Operation[] = [listNamespaces, listApps, listAppTools, showStatistics];
