import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { RestApp } from "./app.ts";
import type { RestDeps } from "./deps.ts";
import { answers } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Gateway"];

/** What whoever runs the gateway looks at, and what clients read before they have a token. */
export function addSystemRoutes(app: RestApp, deps: RestDeps): void {
  /** Figures of all principals together are for those who run the gateway (fault 96). */
  function requireAdmin(principal: Principal): void {
    if (!deps.isOpen() && !principal.roles.includes("admin"))
      throw new GatewayError("FORBIDDEN", "only an admin may see that");
  }

  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    requireAdmin(request.principal);
    const { text, contentType } = await deps.metrics.scrape();
    void reply.header("Content-Type", contentType).header("Cache-Control", "no-store").send(text);
  });

  app.get(
    "/api/status/debug",
    {
      schema: {
        tags,
        summary: "The gateway's inside",
        description: "Only with `debugRoute` (TOOLYARD_DEBUG_ROUTE=true).",
        response: answers(schemas.anyObject, "Facts for whoever looks for a fault.", [404]),
      },
    },
    async (request, reply) => {
      if (!deps.settings().debugRoute)
        throw new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path", {
          hint: "Set toolyard.debugRoute, or TOOLYARD_DEBUG_ROUTE=true.",
        });
      requireAdmin(request.principal);
      reply.header("Cache-Control", "no-store");
      return { version: deps.version, ...deps.debugFacts() };
    },
  );

  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/*"]) {
    app.get(
      path,
      {
        config: { isPublic: true },
        schema: {
          tags,
          summary: "How to be let in (RFC 9728)",
          hide: path.endsWith("*"),
          response: answers(schemas.resourceMetadata, "Protected resource metadata."),
        },
      },
      async (request, reply) => {
        reply.header("Cache-Control", "max-age=3600");
        const resource = (request.url.split("?", 1)[0] ?? "").slice("/.well-known/oauth-protected-resource".length);
        return {
          resource: `http://${request.headers.host ?? "localhost"}${resource === "" ? "/mcp" : resource}`,
          resource_name: "Toolyard",
          bearer_methods_supported: ["header"],
        };
      },
    );
  }
}
