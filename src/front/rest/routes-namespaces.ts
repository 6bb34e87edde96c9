import { z } from "zod";
import type { ViewServer } from "../../catalog/view.ts";
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
  app.get(
    "/namespaces",
    {
      schema: {
        tags,
        summary: "All namespaces",
        response: answers(schemas.namespaceList, "The namespaces of whoever asks."),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      sendCached(
        request,
        reply,
        cache.of(view, "namespaces", () => ({
          namespaces: offered(view.servers).map((server) => toNamespace(server, view.loaded.has(server.instance))),
        })),
      );
    },
  );

  app.get(
    "/list/apps",
    {
      schema: {
        tags,
        summary: "All apps",
        querystring: z.object({ status: schemas.flag }),
        response: answers(schemas.appList, "One per server."),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      const { status } = request.query;
      sendCached(
        request,
        reply,
        cache.of(view, `apps ${status}`, () => offered(view.servers).map((server) => toApp(server, status))),
      );
    },
  );

  app.get(
    "/list/apps/:app/tools",
    {
      schema: {
        tags,
        summary: "The tools of one app",
        description: "Loads the app's namespace for whoever asks.",
        params: z.object({ app: schemas.name }),
        querystring: z.object({ namespace: schemas.name.optional() }),
        response: answers(schemas.appTools, "MCP tool definitions.", executing),
      },
    },
    async (request, reply) => {
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
      sendCached(
        request,
        reply,
        toCachedText({ namespace: server.namespace, tools: server.tools.map((tool) => tool.definition), metadata }),
      );
    },
  );

  app.get(
    "/api/namespaces/stats",
    {
      schema: {
        tags,
        summary: "How namespaces are used",
        response: answers(
          schemas.namespaceStats,
          "Counts of whoever asks, since the gateway was started; uses also from before.",
        ),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      const { uses, loadTimeMs, ...counts } = deps.loads.stats(request.principal);
      const loaded = view.servers.flatMap((server) => {
        const entry = view.loaded.get(server.instance);
        return entry === undefined
          ? []
          : [{ name: server.namespace, loadedAt: new Date(entry.loadedAtMs).toISOString() }];
      });
      const namespaces = view.servers.flatMap((server) => {
        const use = uses.get(server.instance);
        return use === undefined
          ? []
          : [
              {
                name: server.namespace,
                loads: use.loads,
                calls: use.calls,
                last_used_at: new Date(use.lastUsedAtMs).toISOString(),
                tools: Object.fromEntries(use.tools),
              },
            ];
      });
      void reply
        .header("Cache-Control", "no-store")
        .send({ ...counts, load_time_ms: Math.round(loadTimeMs * 100) / 100, loaded, namespaces });
    },
  );
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
