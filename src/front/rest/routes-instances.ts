import { z } from "zod";
import type { View, ViewServer } from "../../catalog/view.ts";
import type { Instance } from "../../instance/instance.ts";
import { GatewayError } from "../../shared/gateway-error.ts";
import type { Principal } from "../../shared/principal.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText, type TextCache } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Servers and instances"];
const idParams = z.object({ id: schemas.name });

/** What runs, and what can be done with it. Only the caller's own instances are there: another's id is as unknown as a random one (FAULTS.md 94). */
export function addInstanceRoutes(app: RestApp, deps: RestDeps, cache: TextCache): void {
  function find(principal: Principal, id: string): Instance {
    const instance = deps.instancesOf(principal).find((candidate) => candidate.id === id);
    // The id is not repeated: what comes back must not tell one unknown id from another.
    if (instance === undefined)
      throw new GatewayError("SERVER_UNKNOWN", "there is no such instance", {
        hint: "GET /api/instances lists yours.",
      });
    return instance;
  }

  /** Everybody who sees a shared instance may use it; only who runs the gateway may stop it for all. */
  function findToManage(principal: Principal, id: string): Instance {
    const instance = find(principal, id);
    if (instance.owner === null && !deps.isOpen() && !principal.roles.includes("admin"))
      throw new GatewayError("FORBIDDEN", "this instance is shared: only an admin may do that");
    return instance;
  }

  app.get(
    "/api/servers",
    {
      schema: {
        tags,
        summary: "All servers",
        response: answers(schemas.serverList, "Servers of whoever asks.", [304]),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      sendCached(
        request,
        reply,
        cache.of(view, "servers", () => ({ servers: view.servers.map((server) => toServer(server, deps)) })),
      );
    },
  );

  app.post(
    "/api/servers/:slug/refresh",
    {
      schema: {
        tags,
        summary: "List a server again",
        params: z.object({ slug: schemas.name }),
        response: answers(schemas.server, "The server as it stands then.", executing),
      },
    },
    async (request, reply) => {
      const { principal } = request;
      const known = deps.viewOf(principal).server(request.params.slug);
      if (known === undefined)
        throw new GatewayError("SERVER_UNKNOWN", "there is no such server", { hint: "GET /api/servers lists yours." });
      await find(principal, known.instance).refresh(abortedWith(reply.raw));
      return toServer(deps.viewOf(principal).server(request.params.slug) ?? known, deps);
    },
  );

  app.get(
    "/api/instances",
    {
      schema: {
        tags,
        summary: "All instances",
        response: answers(schemas.instanceList, "Instances of whoever asks.", [304]),
      },
    },
    (request, reply) => {
      const view = deps.viewOf(request.principal);
      sendCached(
        request,
        reply,
        toCachedText({
          instances: deps.instancesOf(request.principal).map((instance) => toInstance(instance, view, deps)),
        }),
      );
    },
  );

  app.get(
    "/api/instances/:id",
    {
      schema: {
        tags,
        summary: "One instance",
        params: idParams,
        response: answers(schemas.instanceDetails, "The instance.", [304, 404]),
      },
    },
    (request, reply) => {
      const instance = find(request.principal, request.params.id);
      sendCached(
        request,
        reply,
        toCachedText({
          ...toInstance(instance, deps.viewOf(request.principal), deps),
          stderr: instance.stderr.map(deps.redact),
        }),
      );
    },
  );

  const actions = {
    restart: {
      summary: "Stop and start it again",
      run: async (instance: Instance, signal: AbortSignal) => await instance.restart(signal),
    },
    stop: { summary: "Stop it until somebody starts it", run: async (instance: Instance) => await instance.stop() },
    refresh: {
      summary: "List what it offers again",
      run: async (instance: Instance, signal: AbortSignal) => await instance.refresh(signal),
    },
  } as const;
  for (const [name, action] of Object.entries(actions)) {
    app.post(
      `/api/instances/:id/${name}`,
      {
        schema: {
          tags,
          summary: action.summary,
          params: idParams,
          response: answers(schemas.instance, "The instance as it stands then.", executing),
        },
      },
      async (request, reply) => {
        const { principal } = request;
        const instance =
          name === "refresh" ? find(principal, request.params.id) : findToManage(principal, request.params.id);
        await action.run(instance, abortedWith(reply.raw));
        return toInstance(instance, deps.viewOf(principal), deps);
      },
    );
  }

  app.post(
    "/api/instances/:id/token",
    {
      schema: {
        tags,
        summary: "A token for the instance's endpoint",
        description: "Shown only in this answer. It reaches this instance and nothing else, as whoever asked for it.",
        params: idParams,
        response: answers(schemas.instanceToken, "The token.", [404]),
      },
    },
    async (request, reply) => {
      const instance = find(request.principal, request.params.id);
      const token = await deps.issueToken(instance.id, request.principal);
      reply.header("Cache-Control", "no-store");
      return { token, instance: instance.id, endpoint: endpointOf(instance) };
    },
  );

  app.delete(
    "/api/instances/:id/token",
    {
      schema: {
        tags,
        summary: "Take back your tokens for the instance",
        params: idParams,
        response: answers(schemas.revokedTokens, "How many there were.", [404]),
      },
    },
    async (request) => {
      const instance = find(request.principal, request.params.id);
      return { revoked: await deps.revokeTokens(instance.id, request.principal) };
    },
  );
}

function toServer(server: ViewServer, deps: RestDeps): z.output<typeof schemas.server> {
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

function toInstance(instance: Instance, view: View, deps: RestDeps): z.output<typeof schemas.instance> {
  const standing = instance.standing();
  return {
    id: instance.id,
    server: instance.server.slug,
    scope: instance.owner === null ? "shared" : "user",
    transport: standing.transport,
    status: standing.status,
    dormant: standing.dormant,
    reason: deps.redact(standing.reason),
    toolCount: view.server(instance.server.slug)?.tools.length ?? 0,
    endpoint: endpointOf(instance),
  };
}

function endpointOf(instance: Instance): string {
  return `/i/${encodeURIComponent(instance.id)}/mcp`;
}
