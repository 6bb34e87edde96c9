import { z } from "zod";
import { renderShared } from "../../catalog/exposure/meta.ts";
import { withLossTold } from "../../catalog/exposure/restart-notice.ts";
import { resolveRead } from "../../catalog/exposure/native.ts";
import { renderResourceList } from "../../catalog/exposure/resource-list.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { relayedFailure, restContext } from "./execute.ts";
import { sendJson } from "./json-answer.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Tools and resources"];

export function addResourceRoutes(app: RestApp, deps: RestDeps): void {
  const wanted = z.object({ server: schemas.name.optional(), query: schemas.words, cursor: schemas.cursor });
  const listed = answers(schemas.resourceList, "As list_mcp_resources answers.", [304, 404]);
  app.get(
    "/api/resources",
    { schema: { tags, summary: "Resources and templates of all servers", querystring: wanted, response: listed } },
    (request, reply) => {
      const { server, query, cursor } = request.query;
      const list = renderResourceList(deps.viewOf(request.principal), {
        kind: "list-resources",
        server,
        query,
        cursor,
      });
      sendCached(request, reply, toCachedText(list));
    },
  );

  const named = z.object({ uri: schemas.name.describe("As the list gives it.") });
  const contents = answers(schemas.resourceContents, "Its contents.", executing);
  app.get(
    "/api/resources/read",
    { schema: { tags, summary: "Read one resource", querystring: named, response: contents } },
    async (request, reply) => {
      const controller = new AbortController();
      const untrack = deps.track(request.principal, controller);
      try {
        sendJson(reply, await read(deps, request.principal, request.query.uri, abortedWith(reply.raw, controller)));
      } finally {
        untrack();
      }
    },
  );
}

/** Proxied on demand, as bytes. */
async function read(deps: RestDeps, principal: Principal, uri: string, signal: AbortSignal): Promise<Buffer> {
  const view = deps.viewOf(principal);
  const intent = resolveRead(view, uri, "native");
  if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource");
  const outcome = await deps.routing.readResource(intent.server.instance, intent.uri, restContext(principal, signal));
  if (outcome.kind === "error") throw relayedFailure(outcome.error, "RESOURCE_UNKNOWN");
  const shown = renderShared(view, intent, outcome.result, outcome.parsed);
  return withLossTold(shown, { reason: outcome.loss, intent, forModel: false });
}
