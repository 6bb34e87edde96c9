import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { metadataPath, toResource, usualScopes } from "../http/challenge.ts";
import { jsonAnswer } from "./answer.ts";
import { gatewayReading, gatewayUpkeep } from "../../engine/policy/rights.ts";
import { type RestDeps, publicRoute, route, type Route, type RestRequest } from "./route.ts";
import { answers } from "../../operations/responses.ts";
import { splitTarget } from "./router.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { noteUpkeep } from "../../operations/gateway/database-operations.ts";
import { whileAllowed } from "../../operations/request/tracked.ts";
import { toRequestFacts } from "./operation-route.ts";

const tag = "Gateway";
const recentOnly = "Takes a login with a browser of the last 15 minutes; a token does not do.";

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

/** A reader who stops reading keeps others from theirs no longer than this. */
const longestReadMs = 3_600_000;

/** What concerns everything that the gateway keeps. */
export function createUpkeepRoutes(deps: RestDeps): readonly Route[] {
  return [backUp(deps)];
}

function backUp(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/system/backup",
    right: gatewayUpkeep,
    operation: {
      id: "backUpState",
      tag,
      summary: "Download people, rights, sealed secrets and the audit as one file",
      description: `\`toolyard restore\` puts it in force. Records of calls are not in it. ${recentOnly}`,
      responses: {
        ...answers(z.unknown(), "", [415, 429, 503]),
        200: { description: "A SQLite database.", content: { "application/vnd.sqlite3": z.string() } },
        422: { description: "A PostgreSQL is backed up with pg_dump." },
      },
    },
    async handle(request) {
      // Before it is written: the backup tells of itself.
      const asking = Object.assign(toRequestFacts(deps, request.raw, request.response), {
        principal: request.principal,
      });
      await noteUpkeep(deps, asking, "state.backup");
      return await whileAllowed(deps, asking, async (signal) => await sendBackup(deps, request, signal));
    },
  });
}

async function sendBackup(
  deps: Pick<RestDeps, "upkeep">,
  { response, headers }: RestRequest,
  signal: AbortSignal,
): Promise<undefined> {
  const file = await deps.upkeep.backup();
  try {
    // Making it takes as long as the state is large.
    signal.throwIfAborted();
    response.writeHead(200, {
      ...headers,
      "Cache-Control": "no-store",
      "Content-Type": "application/vnd.sqlite3",
      "Content-Length": file.bytes,
      "Content-Disposition": 'attachment; filename="toolyard-state.db"',
    });
    // A client that leaves in the middle has a file that is too short, and no answer that could say so.
    await pipeline(file.stream, response, { signal: abortAfter(longestReadMs, signal) }).catch(() =>
      response.destroy(),
    );
  } finally {
    file.stream.destroy();
    await file.remove();
  }
  return undefined;
}
