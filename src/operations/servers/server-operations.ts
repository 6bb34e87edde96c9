import * as z from "zod";
import { transportKinds } from "../../config/entry/transports.ts";
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
import { isUnseen } from "../../catalog/exposure/discover/discover-text.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { statusWord } from "../../kernel/status-words.ts";

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

const unlisted = z
  .object({
    servers: z.array(
      z.object({
        server: z.string(),
        word: z.string().describe("The status in words for people."),
        reason: z.string(),
        isComing: z.boolean().describe("Whether it has never been up, so that waiting for it may help."),
      }),
    ),
  })
  .meta({ id: "UnlistedServers" });

export const listUnlisted = operation({
  route: "GET /api/unlisted-servers",
  right: reading,
  query: z.object({
    server: schemas.name.optional().describe("Only this one."),
    wait: schemas
      .clampedNumber({ least: 0, most: 30, standard: 0 })
      .describe("Seconds from their start to wait for servers that have never been up."),
  }),
  id: "listUnlistedServers",
  tag: "Servers and instances",
  summary: "Servers of which nothing is listed, and why",
  description: "Those that were disabled or stopped on purpose are left out, unless one is named.",
  responses: answers(unlisted, "Those that are missing from the lists of tools, resources and prompts.", [404]),
  async run(services, { principal, query, signal }) {
    if (query.wait > 0 && services.viewOf(principal).servers.some(isUnseen)) {
      const waitMs = query.wait * 1_000;
      await services.settled(principal, waitMs, abortAfter(waitMs, signal));
      signal.throwIfAborted();
    }
    const chosen = chooseServers(services.viewOf(principal), query.server);
    return { servers: chosen.filter((server) => isMissing(server, chosen.length)).map(toLine) };
    function toLine(server: ViewServer) {
      const reason = services.redact(server.reason);
      return { server: server.slug, word: statusWord(server), reason, isComing: isUnseen(server) };
    }
  },
});

function isMissing(server: ViewServer, chosen: number): boolean {
  if (server.status === "disabled" && server.step !== "correct" && chosen > 1) return false;
  return !server.shown || isUnseen(server);
}

/** What lists leave out. */
export const unlistedOperations: readonly Operation[] = [listUnlisted];
