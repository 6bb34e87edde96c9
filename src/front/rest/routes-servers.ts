import { transportKinds } from "../../config/entry/transports.ts";
import * as z from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { cachedAnswer, jsonAnswer } from "./answer.ts";
import type { TextCache } from "./cached-text.ts";
import { usingServers, reading } from "../../engine/policy/rights.ts";
import type { RestDeps } from "./deps.ts";
import { actionTimeoutMs, findInstance } from "./own-instance.ts";
import { answers, executing } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Servers and instances";

const server = z
  .object({
    slug: z.string(),
    displayName: z.string(),
    namespace: z.string(),
    icon: schemas.nullableText,
    category: schemas.nullableText,
    priority: z.enum(["high", "normal", "low"]),
    transport: z.enum(transportKinds),
    instance: z.string(),
    status: z.string(),
    dormant: z.boolean(),
    reason: z.string(),
    toolCount: z.int(),
    resourceCount: z.int(),
    promptCount: z.int(),
  })
  .meta({ id: "Server" });

const serverList = z.object({ servers: z.array(server) }).meta({ id: "ServerList" });

/** The configured servers, as the principal sees them. */
export function createServerRoutes(deps: RestDeps, cache: TextCache): readonly Route[] {
  return [listServers(deps, cache), refreshServer(deps)];
}

function listServers(deps: RestDeps, cache: TextCache): Route {
  return route({
    method: "GET",
    path: "/api/servers",
    right: reading,
    operation: {
      id: "listServers",
      tag,
      summary: "All servers",
      responses: answers(serverList, "Servers of whoever asks.", [304]),
    },
    handle({ principal }) {
      const view = deps.viewOf(principal);
      const make = () => ({ servers: view.servers.map((server) => describeServer(server, deps)) });
      return cachedAnswer(cache.of(view, "servers", make));
    },
  });
}

function refreshServer(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/servers/{slug}/refresh",
    right: usingServers,
    params: z.object({ slug: schemas.name }),
    operation: {
      id: "refreshServer",
      tag,
      summary: "List a server again",
      responses: answers(server, "The server after that.", executing),
    },
    async handle({ principal, params: { slug } }) {
      const known = deps.viewOf(principal).server(slug);
      if (known === undefined)
        throw new GatewayError("SERVER_UNKNOWN", "there is no such server", { hint: "GET /api/servers lists yours." });
      await findInstance(deps, principal, known.instance).refresh(abortAfter(actionTimeoutMs));
      return jsonAnswer(describeServer(deps.viewOf(principal).server(slug) ?? known, deps));
    },
  });
}

function describeServer(server: ViewServer, deps: RestDeps): z.output<typeof server> {
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
    resourceCount: server.catalog?.resources.length ?? 0,
    promptCount: server.catalog?.prompts.length ?? 0,
  };
}
