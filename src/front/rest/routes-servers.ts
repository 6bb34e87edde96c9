import { z } from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import { abortAfter } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { RestApp } from "./app.ts";
import { sendCached, type TextCache } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { actionTimeoutMs, findInstance } from "./own-instance.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Servers and instances"];

/** The configured servers, as whoever asks sees them. */
export function addServerRoutes(app: RestApp, deps: RestDeps, cache: TextCache): void {
  const listed = answers(schemas.serverList, "Servers of whoever asks.", [304]);
  app.get("/api/servers", { schema: { tags, summary: "All servers", response: listed } }, (request, reply) => {
    const view = deps.viewOf(request.principal);
    const make = () => ({ servers: view.servers.map((server) => describeServer(server, deps)) });
    sendCached(request, reply, cache.of(view, "servers", make));
  });

  const params = z.object({ slug: schemas.name });
  const response = answers(schemas.server, "The server as it stands then.", executing);
  app.post(
    "/api/servers/:slug/refresh",
    { schema: { tags, summary: "List a server again", params, response } },
    async ({ principal, params: { slug } }) => {
      const known = deps.viewOf(principal).server(slug);
      if (known === undefined)
        throw new GatewayError("SERVER_UNKNOWN", "there is no such server", { hint: "GET /api/servers lists yours." });
      await findInstance(deps, principal, known.instance).refresh(abortAfter(actionTimeoutMs));
      return describeServer(deps.viewOf(principal).server(slug) ?? known, deps);
    },
  );
}

function describeServer(server: ViewServer, deps: RestDeps): z.output<typeof schemas.server> {
  return {
    slug: server.slug,
    displayName: server.title,
    namespace: server.namespace,
    icon: server.icon ?? null,
    category: server.category ?? null,
    priority: server.priority,
    transport: server.transport,
    instance: server.instance,
    status: server.status,
    dormant: server.dormant,
    reason: deps.redact(server.reason),
    toolCount: server.tools.length,
    resourceCount: server.part?.resources.length ?? 0,
    promptCount: server.part?.prompts.length ?? 0,
  };
}
