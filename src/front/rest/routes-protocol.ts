import * as z from "zod";
import type { MessageReader, SeenMessage } from "../../records/events/message-watch.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { TapPeer } from "../../kernel/events/message-tap.ts";
import { auditName, type Principal } from "../../kernel/principal.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import { permits } from "../../engine/policy/scopes.ts";
import { answers } from "../../operations/responses.ts";
import { requireOwner } from "../../operations/request/manager.ts";
import { readsNothing } from "../../records/events/live-events.ts";
import { eventStreamType } from "../../wire/sse/event-text.ts";
import { toRequestFacts } from "./operation-route.ts";
import { type RestDeps, route, type Route } from "./route.ts";
import { openEventStream } from "./streams/event-response.ts";

const text = z.string().max(200).optional();
const query = z.object({
  server: text.describe("Only what passes between the gateway and this server, by its slug."),
  client: text.describe("Only what passes between the gateway and clients that call themselves so."),
  method: text.describe("Only requests, notifications and answers of this method, such as `tools/call`."),
});
type Wanted = z.output<typeof query>;

const kinds = ["request", "notification", "result", "error", "refusal", "unknown"] as const;

const protocolMessage = z
  .object({
    time: z.iso.datetime(),
    side: z.enum(["client", "server"]).describe("Whom the gateway spoke with."),
    way: z.enum(["in", "out"]).describe("Towards the gateway, or away from it."),
    name: z.string().nullable().describe("The server’s slug, or what the client calls itself."),
    principal: z.string().nullable().describe("Whose client it is."),
    instance: z.string().nullable(),
    kind: z.enum(kinds).describe("`refusal` is an answer of HTTP that is no message."),
    method: z.string().nullable().describe("Of an answer: the method of its request."),
    id: z.string().nullable().describe("As JSON."),
    bytes: z.int().describe("The size of the whole message."),
    ms: z.number().nullable().describe("Of an answer: the time since its request."),
    status: z.int().nullable().describe("Of HTTP, where it is an error."),
    text: z
      .string()
      .describe("The message without secrets; of a long one the beginning; empty where it is another person's."),
    cut: z.boolean().describe("Whether the text is the beginning alone."),
  })
  .meta({ id: "ProtocolMessage" });

/** What waits for a reader who reads slowly; then messages are left out and counted. */
const mostWaitingBytes = 1024 * 1024;

/** Messages between clients, the gateway and servers, while they pass. */
export function createProtocolRoutes(deps: RestDeps): readonly Route[] {
  return [followMessages(deps)];
}

function followMessages(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/protocol",
    right: ownRecords,
    query,
    isStream: true,
    operation: {
      id: "followMessages",
      tag: "Events",
      summary: "Messages between clients, the gateway and servers, while they pass",
      description:
        "Server-sent events: `begin` says whether everybody's messages are shown (`everybody`), `message` is a " +
        "ProtocolMessage, and `lost` says how many were left out (`count`) because they came faster than they are " +
        "told. Nothing is kept: what passed before is not shown. Who manages the gateway sees that others speak, " +
        "and not what they say; others see what passes between the gateway and their own clients and instances. The audit says who watched.",
      responses: {
        ...answers(protocolMessage, "", [429, 503]),
        200: { description: "Each message as JSON.", content: { [eventStreamType]: protocolMessage } },
      },
    },
    async handle({ raw, response, principal, query: wanted, headers }) {
      const facts = toRequestFacts(deps, raw, response);
      // Without credentials, any program on the machine could say that the messages are its own.
      if (deps.isOpen()) requireOwner(deps, { principal, isFromDashboard: facts.isFromDashboard });
      if (raw.method === "HEAD") return { headers: { "Content-Type": eventStreamType }, body: "" };
      const { losses } = deps.presence;
      const [watch, live] = [await deps.messages(), await deps.live()];
      const isManager = principal.roles.includes("admin") && permits(principal, "mcp:admin");
      // As in records: an admin sees that others speak with servers, and not what they say.
      const seesAll = deps.isOpen() || principal.via === "owner";
      const { via, ip } = facts;
      await deps.audit.order({
        ...{ actor: auditName(principal), team: principal.team, via, ip, action: "protocol.watch" },
        ...{ object: wanted.server ?? "", detail: { everybody: isManager, ...wanted } },
      });
      if (response.destroyed) return undefined;
      // Rights that were lost meanwhile are not used any more.
      deps.presence.require(principal, losses);
      const stream = openEventStream(response, headers);
      const leaves = [
        watch.follow({
          sees: (peer) => isWantedPeer(peer, wanted) && (isManager || isOwn(deps, peer, principal)),
          isFull: () => response.writableLength > mostWaitingBytes,
          onMessage(message) {
            if (!isWanted(message, wanted)) return;
            stream.send("message", toJson(message, seesAll || isOwn(deps, message, principal)));
          },
          onLost: (count) => stream.send("lost", { count }),
        } satisfies MessageReader),
        live.follow({ ...readsNothing, principal, onEnd: () => response.end() }, undefined).leave,
      ];
      response.once("close", () => leaves.forEach((leave) => leave()));
      stream.send("begin", { everybody: isManager });
      return undefined;
    },
  });
}

/** With a server alone, what clients say is not wanted; with a client alone, nor is what servers say. */
function isWantedPeer(peer: TapPeer, { server, client }: Wanted): boolean {
  if (peer.side === "server") return server === undefined ? client === undefined : peer.name === server;
  return server === undefined || client !== undefined;
}

function isWanted({ side, name, method }: SeenMessage, wanted: Wanted): boolean {
  if (wanted.method !== undefined && method !== wanted.method) return false;
  return side === "server" || wanted.client === undefined || name === wanted.client;
}

/** What others say to a server that people share is not everybody's. */
function isOwn(deps: Pick<RestDeps, "ownerOf">, of: Whose, { id }: Principal): boolean {
  if (of.side === "client") return of.principal === id;
  return of.instance != null && deps.ownerOf(of.instance) === id;
}

/** Of a peer, or of a message that has passed there. */
interface Whose {
  readonly side: TapPeer["side"];
  readonly principal?: string | null;
  readonly instance?: InstanceId | null;
}

function toJson(
  { atMs, tookMs, isCut, text: said, ...message }: SeenMessage,
  hasContents: boolean,
): z.output<typeof protocolMessage> {
  const ms = tookMs === null ? null : Math.round(tookMs * 10) / 10;
  return { time: new Date(atMs).toISOString(), ...message, text: hasContents ? said : "", ms, cut: isCut };
}
