import type { IncomingMessage, ServerResponse } from "node:http";
import type * as z from "zod";
import { type RequestFacts, type Operation, type OpenRequest, checkPart } from "../../operations/operation.ts";
import { replyKind, type Reply } from "../../operations/reply.ts";
import type { Services } from "../../operations/services.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { isFromDashboard } from "../web/session-request.ts";
import { bytesAnswer, cachedAnswer, createdAnswer, jsonAnswer, listHeaders, noStore, type Answer } from "./answer.ts";
import { abortedWith, answerRecords } from "./streams/record-export.ts";
import { type RestDeps, publicRoute, route, type PublicRequest, type Route } from "./route.ts";

/** An operation as a route of REST. */
export function operationRoute(deps: RestDeps, services: Services, operation: Operation): Route {
  const { route: line, params, query } = operation;
  const [method, path] = line.split(" ") as [Route["method"], string];
  const checked = { ...(params === undefined ? {} : { params }), ...(query === undefined ? {} : { query }) };
  const facts = { method, path, operation, ...checked };
  if (operation.isPublic === true)
    return publicRoute({
      ...facts,
      handle: async (request) =>
        toAnswer(await operation.run(services, toOperationRequest(deps, operation, request)), () =>
          deps.publicUrl(request.raw),
        ),
    });
  return route({
    ...facts,
    right: operation.right,
    ...(query !== undefined && "follow" in query.shape ? { isStream: "when followed" as const } : {}),
    async handle(request) {
      const { principal } = request;
      const asking = Object.assign(toOperationRequest(deps, operation, request), { principal });
      const outcome = await operation.run(services, asking);
      if (replyKind(outcome) === "records")
        return await answerRecords(services, request, (outcome as Extract<Reply, { list: unknown }>).list);
      return toAnswer(outcome, () => deps.publicUrl(request.raw));
    },
  });
}

/** The parts of a request that its route has not checked yet, and the facts about it. */
function toOperationRequest(
  deps: RestDeps,
  { body: schema, isBodyOpen }: Operation,
  request: PublicRequest,
): OpenRequest<Record<string, unknown>, Record<string, unknown>, JsonObject> {
  const { params, query, body, bytes, principal, raw, response } = request as PublicRequest<
    Record<string, unknown>,
    Record<string, unknown>
  >;
  const checked =
    schema === undefined || isBodyOpen === true ? body : (checkPart(schema as z.ZodObject, "body", body) as JsonObject);
  // Assigned, because a copy would ask for what most operations never look at.
  return Object.assign(toRequestFacts(deps, raw, response), { params, query, body: checked, bytes, principal });
}

/** The facts of a request that an operation may know. */
export function toRequestFacts(deps: RestDeps, raw: IncomingMessage, response: ServerResponse): RequestFacts {
  let signal: AbortSignal | undefined;
  const isOwner = deps.isOwner(raw);
  return {
    via: isOwner ? "owner" : "rest",
    ip: isOwner ? null : (raw.socket.remoteAddress ?? null),
    accept: raw.headers.accept,
    ifMatch: raw.headers["if-match"],
    isFromDashboard: isFromDashboard(raw),
    get session() {
      return deps.browsers.personOf(raw)?.session;
    },
    loginAgeMs: () => loginAgeMs(deps, raw),
    get base() {
      return deps.publicUrl(raw);
    },
    // Most operations never look at it, and each listener of a response costs something.
    get signal() {
      return (signal ??= abortedWith(response));
    },
  };
}

/**
 * How long ago the sender of a request logged in with a browser; undefined for any other credential. The owner of the
 * data directory shows with each request that they can read its secret.
 */
export function loginAgeMs({ browsers, clock, isOwner }: RestDeps, request: IncomingMessage): number | undefined {
  if (isOwner(request)) return 0;
  const beganMs = browsers.loggedInAt(request);
  return beganMs === undefined ? undefined : clock.now() - beganMs;
}

/** @param base the address of the gateway, for new things */
function toAnswer(outcome: unknown, base: () => string): Answer {
  const kind = replyKind(outcome);
  if (kind === undefined) return jsonAnswer(outcome, noStore);
  const reply = outcome as Reply;
  if ("text" in reply) return cachedAnswer({ bytes: reply.text.bytes, etag: reply.etag });
  if ("bytes" in reply) return bytesAnswer(reply.bytes);
  if ("content" in reply)
    return { headers: { "Content-Type": `${reply.type}; charset=utf-8`, ...listHeaders }, body: reply.content };
  if ("name" in reply)
    return jsonAnswer(reply.saved, { ...noStore, "Content-Disposition": `attachment; filename="${reply.name}"` });
  if ("path" in reply) return createdAnswer(`${base()}${reply.path}`, toAnswer(reply.value, base));
  throw new Error("a list of records was asked for by somebody without a credential");
}
