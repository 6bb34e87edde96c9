import type { IncomingMessage, ServerResponse } from "node:http";
import type { Limits } from "../../config/config.ts";
import { assumedRevision, eraOfRevision, modernRevision } from "../../wire/mcp/revisions.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Admission } from "../http/admission.ts";
import { readBody } from "../http/body.ts";
import type { PublicUrl } from "../http/public-url.ts";
import { readAccept } from "./accept.ts";
import { answerBatch } from "./batch.ts";
import type { Caller } from "./caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SessionlessClients } from "../../kernel/sessionless-clients.ts";
import type { StartupWait } from "./startup-wait.ts";
import { createHttpRun, keepAliveMs, type Incoming } from "./http-run.ts";
import type { LegacyRequests } from "./legacy.ts";
import type { ListenRequests } from "./listen.ts";
import { isBatch, MessageError, readClientMessage, type ClientMessage } from "../../wire/mcp/client-message.ts";
import { jsonHeaders, refuse, sendReply } from "./replies.ts";
import { checkEnvelope, claimedRevision, clientInfoOf } from "./modern.ts";
import type { RequestRunner } from "./request-run.ts";
import type { RunningRequests } from "./running-requests.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import { toWireError } from "./wire-error.ts";

export interface McpHttpDeps {
  readonly runner: RequestRunner;
  readonly legacy: LegacyRequests;
  readonly listen: ListenRequests;
  readonly sessions: SessionStore;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly memory: LargeBuffers;
  readonly admission: Admission;
  readonly running: RunningRequests;
  readonly startupWait: StartupWait;
  readonly sessionlessClients: SessionlessClients;
  readonly publicUrl: PublicUrl;
}

export type McpHttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  endpoint: Endpoint,
  principal: Principal,
) => void;

/** MCP over Streamable HTTP, both eras at one endpoint (2026-07-28 and 2025-11-25, transports). */
export function createMcpHttp(deps: McpHttpDeps): McpHttpHandler {
  const { admit, openChannel, run } = createHttpRun(deps);
  const bodyLimits = { bytes: deps.limits.requestBodyBytes };

  return (request, response, endpoint, principal) => {
    switch (request.method) {
      case "POST":
        readBody(request, bodyLimits, (error, body) => {
          if (error !== undefined) refuse(response, error);
          else receiveInTime({ request, response, endpoint, principal }, body);
        });
        return;
      case "GET":
      case "DELETE":
        withSession(request, response, endpoint, principal);
        return;
      default:
        refuse(
          response,
          new GatewayError("HTTP_METHOD_UNSUPPORTED", `${String(request.method)} is not served at ${endpoint.path}`),
          ["Allow", "POST, GET, DELETE"],
        );
    }
  };

  function receiveInTime(incoming: Incoming, body: Buffer): void {
    const wait = deps.startupWait(incoming.endpoint, incoming.principal);
    if (wait === undefined) receive(incoming, body);
    else void wait.then(() => receive(incoming, body));
  }

  function receive(incoming: Incoming, body: Buffer): void {
    const { response } = incoming;
    try {
      if (isBatch(body)) {
        receiveBatch(incoming, body);
        return;
      }
      const message = readClientMessage(body, deps.limits.jsonDepth);
      if (isModern(incoming.request, message)) receiveModern(incoming, message);
      else receiveLegacy(incoming, message);
    } catch (error) {
      refuse(response, toGatewayError(error));
    }
  }

  function receiveModern(incoming: Incoming, message: ClientMessage): void {
    const { request, response, endpoint, principal } = incoming;
    if (message.kind === "notification") {
      response.writeHead(202).end();
      return;
    }
    if (message.kind === "response")
      throw new GatewayError("REQUEST_INVALID", "clients send no responses in this revision");
    let capabilities: Caller["client"]["capabilities"];
    try {
      capabilities = checkEnvelope(message, request.headers);
    } catch (error) {
      // The envelope is checked before anything runs: its failures have a status of their own (faults 10-12).
      const failure = toGatewayError(error);
      sendReply(response, message.idText, {
        ...toWireError(failure, "modern", message.method),
        status: failure.row.http,
      });
      return;
    }
    const caller: Caller = {
      principal,
      endpoint,
      client: { era: "modern", revision: modernRevision, capabilities, info: clientInfoOf(message.params) },
      session: undefined,
      headers: request.headers,
    };
    const accepts = readAccept(request);
    if (message.method === "subscriptions/listen") {
      const closed = admit(response, message, () => deps.admission.openStream(principal));
      if (closed === undefined) return;
      response.once("close", closed);
      response.once("close", deps.sessionlessClients.listen(caller));
      const asStream = { ...accepts, stream: true };
      deps.listen.open(message, caller, (onGone) => openChannel(response, message, asStream, undefined, onGone));
      return;
    }
    run(incoming, message, caller, accepts, undefined);
  }

  function receiveLegacy(incoming: Incoming, message: ClientMessage): void {
    const { request, response, endpoint, principal } = incoming;
    const session = findSession(request, endpoint, principal);
    if (message.kind !== "request") {
      deps.legacy.receive(message, session);
      response.writeHead(202).end();
      return;
    }
    if (message.method === "initialize") {
      const leave = admit(response, message, () => deps.admission.admit(principal));
      if (leave === undefined) return;
      leave();
      const made = deps.legacy.initialize(message, principal, endpoint, true);
      sendReply(
        response,
        message.idText,
        made.reply,
        made.session === undefined ? [] : ["Mcp-Session-Id", made.session.id],
        !readAccept(request).json,
      );
      return;
    }
    const header = request.headers["mcp-protocol-version"];
    const revision = session?.revision ?? (typeof header === "string" ? header : assumedRevision);
    const caller: Caller = {
      principal,
      endpoint,
      client: { era: "legacy", revision, capabilities: session?.capabilities ?? {} },
      session,
    };
    run(incoming, message, caller, readAccept(request), session);
  }

  function receiveBatch(incoming: Incoming, body: Buffer): void {
    const { request, response, endpoint, principal } = incoming;
    const session = findSession(request, endpoint, principal);
    const revision = session?.revision ?? request.headers["mcp-protocol-version"];
    if (revision !== "2025-03-26")
      throw new MessageError("REQUEST_INVALID", "a batch of messages exists only in revision 2025-03-26");
    const caller: Caller = {
      principal,
      endpoint,
      client: { era: "legacy", revision, capabilities: session?.capabilities ?? {} },
      session,
    };
    answerBatch(body, caller, deps, (reply) => {
      if (reply === undefined) response.writeHead(202).end();
      else response.writeHead(200, jsonHeaders).end(reply, "latin1");
    });
  }

  function withSession(
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
    principal: Principal,
  ): void {
    try {
      if (request.headers["mcp-session-id"] === undefined)
        throw new GatewayError(
          "HTTP_METHOD_UNSUPPORTED",
          `${String(request.method)} needs an Mcp-Session-Id: without a session only POST is served`,
        );
      const session = findSession(request, endpoint, principal) as Session;
      if (request.method === "DELETE") {
        deps.sessions.end(session, "the client ended the session");
        response.writeHead(204).end();
        return;
      }
      if (!readAccept(request).stream)
        throw new GatewayError("NOT_ACCEPTABLE", "this stream needs Accept: text/event-stream");
      response.once("close", deps.admission.openStream(principal));
      deps.legacy.openStream(session, request, response, keepAliveMs);
    } catch (error) {
      const failure = toGatewayError(error);
      refuse(response, failure, failure.code === "HTTP_METHOD_UNSUPPORTED" ? ["Allow", "POST"] : []);
    }
  }

  /** The session that the request names. Throws SESSION_UNKNOWN (404), on which clients initialize again. */
  function findSession(request: IncomingMessage, endpoint: Endpoint, principal: Principal): Session | undefined {
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return undefined;
    const session = typeof id === "string" ? deps.sessions.find(id, principal, endpoint.path) : undefined;
    if (session === undefined) throw new GatewayError("SESSION_UNKNOWN", "there is no such session at this endpoint");
    return session;
  }
}

function isModern(request: IncomingMessage, message: ClientMessage): boolean {
  const header = request.headers["mcp-protocol-version"];
  if (typeof header === "string" && eraOfRevision(header) === "modern") return true;
  const claimed = message.kind === "response" ? undefined : claimedRevision(message.params);
  return typeof claimed === "string" && eraOfRevision(claimed) === "modern";
}
