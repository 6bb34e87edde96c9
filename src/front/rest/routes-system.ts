import * as z from "zod";
import { metadataPath, toResource, usualScopes } from "../http/challenge.ts";
import { jsonAnswer } from "./answer.ts";
import { gatewayReading } from "../../engine/policy/rights.ts";
import { type RestDeps, publicRoute, route, type Route } from "./route.ts";
import { answers } from "../../operations/responses.ts";
import { splitTarget } from "./router.ts";

const tag = "Gateway";

const resourceMetadata = z
  .object({
    resource: z.string(),
    resource_name: z.string(),
    bearer_methods_supported: z.array(z.string()),
    authorization_servers: z.array(z.string()).optional(),
  })
  .describe("RFC 9728.")
  .meta({ id: "ResourceMetadata" });

/** Routes for those who run the gateway, and those that clients read before they have a token. */
export function createSystemRoutes(deps: RestDeps): readonly Route[] {
  return [showMetrics(deps), showMetadata(deps, metadataPath), showMetadata(deps, `${metadataPath}/*`)];
}

function showMetrics(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/metrics",
    right: gatewayReading,
    handle() {
      const { text, contentType } = deps.metrics.scrape();
      return { headers: { "Content-Type": contentType, "Cache-Control": "no-store" }, body: text };
    },
  });
}

/**
 * Metadata of the resource at `/mcp`, or of any other by its path after the well-known one. The OpenAPI document
 * describes only one of the two routes.
 */
function showMetadata({ publicUrl, hasLogins, settings }: RestDeps, path: string): Route {
  const operation = {
    id: "showResourceMetadata",
    tag,
    summary: "How to get access (RFC 9728)",
    responses: answers(resourceMetadata, "Protected resource metadata."),
  };
  return publicRoute({
    method: "GET",
    path,
    ...(path === metadataPath ? { operation } : {}),
    handle({ raw }) {
      const servers = settings().auth.external?.issuers;
      const behind = splitTarget(raw.url ?? "/").path.slice(metadataPath.length);
      const metadata = {
        resource: toResource(publicUrl(raw), behind),
        resource_name: "Toolyard",
        bearer_methods_supported: ["header"],
        // Apps ask for every scope that is listed here: those of administration are left to step-up (2026-07-28, scope
        // minimization).
        ...(hasLogins
          ? { authorization_servers: servers ?? [publicUrl(raw)], scopes_supported: [...usualScopes] }
          : {}),
      };
      return jsonAnswer(metadata, { "Cache-Control": "max-age=3600" });
    },
  });
}
