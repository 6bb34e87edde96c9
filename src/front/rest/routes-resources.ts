import * as z from "zod";
import { resolveRead } from "../../catalog/exposure/native.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { bytesAnswer, cachedAnswer, jsonAnswer } from "./answer.ts";
import { toCachedText } from "./cached-text.ts";
import { abortedWith } from "./client-gone.ts";
import { ownRecords, reading } from "../../engine/policy/rights.ts";
import type { RestDeps } from "./deps.ts";
import { relayedFailure, restContext, toShown } from "./execute.ts";
import { checkPart } from "./part-check.ts";
import { leaseMs, createResourceLeases } from "./resource-leases.ts";
import { answers, executing } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { whileTracked } from "./tracked.ts";

const tag = "Tools and resources";

const resourceList = z
  .object({
    resources: z.array(schemas.json),
    resource_templates: z.array(schemas.json),
    total_resources: z.int(),
    total_templates: z.int(),
    nextCursor: z.string().optional(),
  })
  .catchall(z.unknown())
  .meta({ id: "ResourceList" });

const resourceContents = z
  .object({ contents: z.array(schemas.json) })
  .catchall(z.unknown())
  .describe("The server's answer, with URIs in the form that can be read here.")
  .meta({ id: "ResourceContents" });

const watchBody = z
  .strictObject({ uri: schemas.name.describe("As the list gives it.") })
  .meta({ id: "ResourceToWatch" });

const watched = z
  .object({
    instance: z.string().describe("As events name it."),
    uri: z.string().describe("As events name it: the server's own."),
    seconds: z.int().describe("How long it is watched, unless it is asked for again."),
  })
  .meta({ id: "WatchedResource" });

/** Routes that list and read resources, and watch them. */
export function createResourceRoutes(deps: RestDeps): readonly Route[] {
  return [listResources(deps), readOne(deps), watchOne(deps)];
}

function watchOne(deps: RestDeps): Route {
  const leases = createResourceLeases(deps);
  return route({
    method: "POST",
    path: "/api/resources/watch",
    right: ownRecords,
    operation: {
      id: "watchResource",
      tag,
      summary: "Be told when a resource changes",
      description:
        "Subscribes at its server, which stays awake meanwhile. `GET /api/events` then has `resource.updated` whenever " +
        "the server announces a change; on a shared server whoever is no admin is not told of which resource. UPSTREAM_PROTOCOL " +
        "says that the server announces none.",
      body: watchBody,
      responses: answers(watched, "It is watched.", executing),
    },
    async handle({ principal, body, response }) {
      const { uri } = checkPart(watchBody, "body", body);
      const intent = resolveRead(deps.viewOf(principal), uri, "native");
      if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource of a server");
      const leased = { principal, instance: intent.server.instance, uri: intent.uri };
      await leases.renew(leased, abortedWith(response));
      return jsonAnswer(
        { instance: leased.instance, uri: leased.uri, seconds: leaseMs / 1_000 },
        { "Cache-Control": "no-store" },
      );
    },
  });
}

function listResources(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/resources",
    right: reading,
    query: z.object({ server: schemas.name.optional(), query: schemas.words, cursor: schemas.cursor }),
    operation: {
      id: "listResources",
      tag,
      summary: "Resources and templates of all servers",
      responses: answers(resourceList, "As list_mcp_resources answers.", [304, 404]),
    },
    async handle({ principal, query: { server, query, cursor }, response }) {
      const work = { view: deps.viewOf(principal), context: restContext(principal, abortedWith(response)) };
      const { list } = await deps.performer.perform({ kind: "list-resources", server, query, cursor }, work);
      return cachedAnswer(toCachedText(list));
    },
  });
}

function readOne(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/resources/read",
    right: reading,
    query: z.object({ uri: schemas.name.describe("As the list gives it.") }),
    operation: {
      id: "readResource",
      tag,
      summary: "Read one resource",
      responses: answers(resourceContents, "Its contents.", executing),
    },
    async handle({ principal, query, response }) {
      return await whileTracked(deps, { principal, response }, async (context) =>
        bytesAnswer(await read(deps, query.uri, context)),
      );
    },
  });
}

/** Reads a resource from its server on demand, as bytes. */
async function read(deps: RestDeps, uri: string, context: CallContext): Promise<Buffer> {
  const view = deps.viewOf(context.principal);
  const intent = resolveRead(view, uri, "native");
  if (intent.kind === "kept") {
    const { result } = await deps.performer.perform(intent, { context, view });
    return Buffer.from(stringifyExact(result), "utf8");
  }
  if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource");
  const outcome = await deps.performer.perform(intent, { context, view });
  if (outcome.kind === "error") throw relayedFailure(outcome.error, "RESOURCE_UNKNOWN");
  return toShown(view, intent, outcome);
}
