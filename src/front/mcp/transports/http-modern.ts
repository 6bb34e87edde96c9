import { readClientName } from "../../../kernel/client-presence.ts";
import type { Profiles } from "../../../engine/policy/profiles.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { traceContextOf } from "../../../kernel/runtime/tracing.ts";
import type { SessionlessClients } from "../../../kernel/sessionless-clients.ts";
import type { MessageTap } from "../../../kernel/events/message-tap.ts";
import type { LargeBuffers } from "../../../wire/json/large-buffers.ts";
import type { ClientMessage, ClientRequest } from "../../../wire/mcp/client-message.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { modernRevision } from "../../../wire/mcp/revisions.ts";
import type { Admission } from "../../http/guards/admission.ts";
import { readAccept, createAnswerChannel } from "../streams/answer-channel.ts";
import type { Caller } from "../caller.ts";
import { toTap, type HttpRun, type Incoming } from "./http-run.ts";
import type { ListenRequests } from "../listen/listen.ts";
import { checkEnvelope, clientInfoOf } from "../sessions/modern.ts";
import { joinText } from "../answers/result-text.ts";
import { sendReply } from "../answers/replies.ts";
import { toWireError } from "../answers/wire-error.ts";

export interface ModernHttpDeps {
  readonly listen: ListenRequests;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly admission: Admission;
  readonly sessionlessClients: SessionlessClients;
  /** A profile may be a client's by its name. */
  readonly ofClient: Profiles["ofClient"];
}

/** Takes one POST of the modern era, where every request is self-contained (2026-07-28, streamable-http). */
export type ModernHttp = (incoming: Incoming, message: ClientMessage) => void;

export function createModernHttp(deps: ModernHttpDeps, { run, admit }: HttpRun): ModernHttp {
  /**
   * The answer is an event stream, whatever else the client takes: its first event comes at once, its last one late.
   */
  function listen(incoming: Incoming, message: ClientRequest, caller: Caller): void {
    const { response, principal, request } = incoming;
    const closed = admit(response, message, () => deps.admission.openStream(principal));
    if (closed === undefined) return;
    response.once("close", closed);
    response.once("close", deps.sessionlessClients.listen(caller));
    const accepts = { ...readAccept(request), stream: true };
    const { memory } = deps;
    const { idText } = message;
    const onMessage = toTap(deps.tap, incoming);
    deps.listen.open(message, caller, (onGone) =>
      createAnswerChannel(response, { idText, accepts, resumable: undefined, memory, onGone, onMessage }),
    );
  }

  return (incoming, message) => {
    const { request, response, endpoint, principal } = incoming;
    if (message.kind === "notification") {
      response.writeHead(202).end();
      return;
    }
    if (message.kind === "response")
      throw new GatewayError("REQUEST_INVALID", "clients send no responses in this revision");
    const capabilities = readEnvelope(deps, incoming, message);
    if (capabilities === undefined) return;
    const info = clientInfoOf(message.params);
    const caller: Caller = {
      principal: deps.ofClient(principal, readClientName(info)),
      endpoint,
      client: { era: "modern", revision: modernRevision, capabilities, info },
      via: "http",
      session: undefined,
      headers: request.headers,
      trace: traceContextOf(request.headers),
    };
    if (message.method === "subscriptions/listen") listen(incoming, message, caller);
    else run(incoming, message, caller, readAccept(request));
  };
}

/** The client's capabilities; undefined when the envelope was wrong, which the client has then been told. */
function readEnvelope(
  { tap }: Pick<ModernHttpDeps, "tap">,
  incoming: Incoming,
  message: ClientRequest,
): JsonObject | undefined {
  const { request, response } = incoming;
  try {
    return checkEnvelope(message, request.headers);
  } catch (error) {
    // The envelope is checked before anything runs: its failures have a status of their own (faults 10-12).
    const failure = toGatewayError(error);
    const reply = { ...toWireError(failure, "modern", message.method), status: failure.row.http };
    sendReply(response, message.idText, reply);
    toTap(tap, incoming)?.(answerText(message.idText, joinText(reply.body)), reply.status);
    return undefined;
  }
}
