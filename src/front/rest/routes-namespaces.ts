import { z } from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import type { NamespaceUse } from "../../engine/namespaces/namespace-usage.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText, type TextCache } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { findApp } from "./find-app.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Browse"];

/** For browsing: namespaces, apps, the tools of one. */
export function addNamespaceRoutes(app: RestApp, deps: RestDeps, cache: TextCache): void {
  const namespaces = answers(schemas.namespaceList, "The namespaces of whoever asks.", [304]);
  app.get("/namespaces", { schema: { tags, summary: "All namespaces", response: namespaces } }, (request, reply) => {
    const view = deps.viewOf(request.principal);
    const make = () => ({
      namespaces: offered(view.servers).map((server) => toNamespace(server, view.loaded.has(server.instance))),
    });
    sendCached(request, reply, cache.of(view, "namespaces", make));
  });

  const apps = answers(schemas.appList, "One per server.", [304]);
  const withStatus = z.object({ status: schemas.flag });
  app.get(
    "/list/apps",
    { schema: { tags, summary: "All apps", querystring: withStatus, response: apps } },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      const { status } = request.query;
      const make = () => offered(view.servers).map((server) => toApp(server, status));
      sendCached(request, reply, cache.of(view, `apps ${status}`, make));
    },
  );

  addAppTools(app, deps);
  addStatistics(app, deps);
}

function addAppTools(app: RestApp, deps: RestDeps): void {
  const schema = {
    tags,
    summary: "The tools of one app",
    description: "Loads the app's namespace for whoever asks.",
    params: z.object({ app: schemas.name }),
    querystring: z.object({ namespace: schemas.name.optional() }),
    response: answers(schemas.appTools, "MCP tool definitions.", [304, ...executing]),
  };
  app.get("/list/apps/:app/tools", { schema }, async (request, reply) => {
    const { principal } = request;
    const before = findApp(deps.viewOf(principal), request.params.app, request.query.namespace);
    const { loadedAtMs, stale } = await deps.loads.load(principal, before, abortedWith(reply.raw));
    const server = deps.viewOf(principal).server(before.slug) ?? before;
    const metadata = {
      loadedAt: loadedAtMs === undefined ? null : new Date(loadedAtMs).toISOString(),
      toolCount: server.tools.length,
      category: server.category ?? null,
      ...(stale === undefined ? {} : { stale }),
    };
    const tools = server.tools.map((tool) => tool.definition);
    sendCached(request, reply, toCachedText({ namespace: server.namespace, tools, metadata }));
  });
}

function addStatistics(app: RestApp, deps: RestDeps): void {
  const response = answers(
    schemas.namespaceStats,
    "Counts of whoever asks, since the gateway was started; uses also from before.",
  );
  app.get(
    "/api/namespaces/stats",
    { schema: { tags, summary: "How namespaces are used", response } },
    (request, reply) => {
      const { servers, loaded } = deps.viewOf(request.principal);
      const { uses, loadTimeMs, ...counts } = deps.loads.stats(request.principal);
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
      void reply.header("Cache-Control", "no-store").send(stats);
    },
  );
}

function toUse(name: string, use: NamespaceUse): z.output<typeof schemas.namespaceStats>["namespaces"][number] {
  return {
    name,
    loads: use.loads,
    calls: use.calls,
    last_used_at: new Date(use.lastUsedAtMs).toISOString(),
    tools: Object.fromEntries(use.tools),
  };
}

/** A server that somebody switched off is none of the apps. */
function offered(servers: readonly ViewServer[]): readonly ViewServer[] {
  return servers.filter((server) => server.status !== "disabled");
}

function toNamespace(
  server: ViewServer,
  loaded: boolean,
): z.output<typeof schemas.namespaceList>["namespaces"][number] {
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

function toApp(server: ViewServer, withStatus: boolean): z.output<typeof schemas.appList>[number] {
  return {
    name: server.slug,
    namespace: server.namespace,
    icon: server.icon ?? null,
    category: server.category ?? null,
    toolCount: server.tools.length,
    ...(withStatus ? { status: server.status } : {}),
  };
}
