import type { Elsewhere } from "../../../cluster/peers/held-things.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { splitHeldId } from "../../../kernel/ids.ts";
import { parseJson } from "../../../kernel/text/json-bytes.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { eventText } from "../../../wire/sse/event-text.ts";
import { joinText } from "../answers/result-text.ts";
import { toWireError } from "../answers/wire-error.ts";
import { parseEventId, type EventListener, type ResumableStreams } from "./event-log.ts";

/** What of a session is known at every node that has it. */
interface StreamedSession {
  readonly id: string;
  readonly principal: { readonly id: string };
  readonly streams: ResumableStreams;
}

/** Streams of other nodes that broke off, and that their clients come back to here. */
export interface ResumedElsewhere {
  /**
   * Follows the stream that a Last-Event-ID names at its node, until the returned function is called; undefined where
   * it names no node. A stream that is lost ends with the error of its request: what it answered cannot be known.
   */
  follow(session: StreamedSession, lastEventId: string, listener: EventListener): (() => void) | undefined;
}

export interface ResumedElsewhereDeps {
  readonly elsewhere: Elsewhere;
  readonly sessions: { held(id: string): StreamedSession | undefined };
}

interface AboutStream {
  readonly session: string;
  readonly principal: string;
  readonly last: string;
}

/** Lets other nodes follow the streams of this one from now on. */
export function createResumedElsewhere({ elsewhere, sessions }: ResumedElsewhereDeps): ResumedElsewhere {
  elsewhere.answer("stream", async ({ about, signal, say }) => {
    const { session: id, principal, last } = about as unknown as AboutStream;
    const session = sessions.held(id);
    const place = session?.principal.id === principal ? session.streams.find(last) : undefined;
    if (place === undefined) return undefined;
    await new Promise<void>((resolve) => {
      const onEvent = (text: string): void => say({}, Buffer.from(text, "latin1"));
      const leave = place.log.follow(place.number, { onEvent, onEnd: resolve });
      signal.addEventListener("abort", () => resolve(leave()), { once: true });
    });
    return { about: {} };
  });

  async function followAt(node: string, about: AboutStream, listener: EventListener, signal: AbortSignal) {
    const onSaid = (_about: unknown, body: Buffer): void => listener.onEvent(body.toString("latin1"));
    try {
      const asked = { kind: "stream", about: { ...about }, signal, onSaid } as const;
      // This node has forgotten it, or it is of an earlier life.
      const ended = node === elsewhere.node ? undefined : await elsewhere.ask(node, asked);
      if (ended === undefined) throw new GatewayError("NODE_ENDED", `the node ${node} has the stream no longer`);
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = toGatewayError(error);
      // It was not reached: the client comes back.
      if (code !== "NODE_SILENT") tellLost(about.last, message, listener);
    }
    listener.onEnd();
  }

  return {
    follow({ id, principal }, last, listener) {
      const { node } = placeOf(last);
      if (node === undefined) return undefined;
      const left = new AbortController();
      void followAt(node, { session: id, principal: principal.id, last }, listener, left.signal);
      return () => left.abort(new GatewayError("CALL_CANCELLED", "the client has left the stream"));
    },
  };
}

/** `{node}.{request}.{random}_{number}`. */
function placeOf(lastEventId: string): { readonly node: string | undefined; readonly idText: string | undefined } {
  const { node: named = "" } = splitHeldId(parseEventId(lastEventId)?.stream ?? "");
  const { node, own } = splitHeldId(named);
  const idText = Buffer.from(own, "base64url").toString("latin1");
  const id = parseJson(idText);
  return { node, idText: typeof id === "string" || typeof id === "number" ? idText : undefined };
}

function tellLost(last: string, why: string, { onEvent }: EventListener): void {
  const { idText } = placeOf(last);
  if (idText === undefined) return;
  const lost = new GatewayError(
    "OUTCOME_UNKNOWN",
    `the answer was lost (${why}): the request may or may not have taken effect`,
  );
  onEvent(eventText("message", answerText(idText, joinText(toWireError(lost, "legacy", "").body))));
}
