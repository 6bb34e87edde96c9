import { transportKinds } from "../../config/entry/transports.ts";
import * as z from "zod";
import type { ViewServer } from "../../catalog/model/view.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { usingServers, reading } from "../../engine/policy/rights.ts";
import { actionTimeoutMs, findInstance } from "./own-instance.ts";
import { answers, executing } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { cachedText } from "../reply.ts";
import type { Services } from "../services.ts";

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

const listServers = operation({
  route: "GET /api/servers",
  right: reading,
  id: "listServers",
  tag,
  summary: "All servers",
  responses: answers(serverList, "Servers of the caller.", [304]),
  run(services, { principal }) {
    const view = services.viewOf(principal);
    const make = () => ({ servers: view.servers.map((server) => describeServer(server, services)) });
    return cachedText(services.texts.of(view, "servers", make));
  },
});

const refreshServer = operation({
  route: "POST /api/servers/{slug}/refresh",
  right: usingServers,
  params: z.object({ slug: schemas.name }),
  id: "refreshServer",
  tag,
  summary: "List a server again",
  responses: answers(server, "The server after that.", executing),
  async run(services, { principal, params: { slug } }) {
    const known = services.viewOf(principal).server(slug);
    if (known === undefined)
      throw new GatewayError("SERVER_UNKNOWN", "there is no such server", {
        hint: "`toolyard status` and GET /api/servers list yours.",
      });
    await findInstance(services, principal, known.instance).refresh(abortAfter(actionTimeoutMs));
    return describeServer(services.viewOf(principal).server(slug) ?? known, services);
  },
});

function describeServer(server: ViewServer, services: Services): z.output<typeof server> {
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
    reason: services.redact(server.reason),
    toolCount: server.tools.length,
    resourceCount: server.catalog?.resources.length ?? 0,
    promptCount: server.catalog?.prompts.length ?? 0,
  };
}

/** The configured servers, as the principal sees them. */
export const serverOperations: readonly Operation[] = [listServers, refreshServer];
