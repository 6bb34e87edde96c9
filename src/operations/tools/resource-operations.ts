import * as z from "zod";
import { resolveRead } from "../../catalog/exposure/native.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { ownRecords, reading } from "../../engine/policy/rights.ts";
import { relayedFailure, toShown } from "./execute.ts";
import { restContext, whileTracked } from "../request/tracked.ts";
import { leaseMs } from "./resource-leases.ts";
import { answers, executing } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { cached, bytes } from "../reply.ts";
import type { Services } from "../services.ts";

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

const watchOne = operation({
  route: "POST /api/resources/watch",
  right: ownRecords,
  id: "watchResource",
  tag,
  summary: "Be told when a resource changes",
  description:
    "Subscribes at its server, which stays awake meanwhile. `GET /api/events` then has `resource.updated` whenever " +
    "the server announces a change; on a shared server, only admins are told of which resource. UPSTREAM_PROTOCOL " +
    "says that the server announces none.",
  body: watchBody,
  responses: answers(watched, "It is watched.", executing),
  async run(services, { principal, body, signal }) {
    const { uri } = body;
    const intent = resolveRead(services.viewOf(principal), uri, "native");
    if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource of a server");
    const leased = { principal, instance: intent.server.instance, uri: intent.uri };
    await services.leases.renew(leased, signal);
    return { instance: leased.instance, uri: leased.uri, seconds: leaseMs / 1_000 };
  },
});

export const listResources = operation({
  route: "GET /api/resources",
  right: reading,
  query: z.object({ server: schemas.name.optional(), query: schemas.words, cursor: schemas.cursor }),
  id: "listResources",
  tag,
  summary: "Resources and templates of all servers",
  responses: answers(resourceList, "As list_mcp_resources answers.", [304, 404]),
  async run(services, { principal, query: { server, query, cursor }, signal }) {
    const work = { view: services.viewOf(principal), context: restContext(principal, signal) };
    const { list } = await services.performer.perform({ kind: "list-resources", server, query, cursor }, work);
    return cached(list);
  },
});

export const readOne = operation({
  route: "GET /api/resources/read",
  right: reading,
  query: z.object({ uri: schemas.name.describe("As the list gives it.") }),
  id: "readResource",
  tag,
  summary: "Read one resource",
  responses: answers(resourceContents, "Its contents.", executing),
  async run(services, { principal, query, signal }) {
    return await whileTracked(services, { principal, signal }, async (context) =>
      bytes(await read(services, query.uri, context)),
    );
  },
});

/** Reads a resource from its server on demand, as bytes. */
async function read(services: Services, uri: string, context: CallContext): Promise<Buffer> {
  const view = services.viewOf(context.principal);
  const intent = resolveRead(view, uri, "native");
  if (intent.kind === "kept") {
    const { result } = await services.performer.perform(intent, { context, view });
    return Buffer.from(stringifyExact(result), "utf8");
  }
  if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource");
  const outcome = await services.performer.perform(intent, { context, view });
  if (outcome.kind === "error") throw relayedFailure(outcome.error, "RESOURCE_UNKNOWN");
  return toShown(view, intent, outcome);
}

/** Routes that list and read resources, and watch them. */
export const resourceOperations: readonly Operation[] = [listResources, readOne, watchOne];
