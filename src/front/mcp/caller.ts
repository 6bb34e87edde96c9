import type { IncomingHttpHeaders } from "node:http";
import type { ClientTraits, ConnectedClient, Front } from "../../kernel/call/call-context.ts";
import type { TapPeer } from "../../kernel/events/message-tap.ts";
import type { TraceContext } from "../../kernel/runtime/tracing.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Endpoint } from "./endpoint/endpoint.ts";
import type { Session } from "./sessions/session.ts";
import type { WireText } from "./answers/result-text.ts";

/** Who sent a request, and how it speaks. */
export interface Caller {
  readonly principal: Principal;
  readonly endpoint: Endpoint;
  readonly client: ClientTraits;
  readonly via: Front;
  /** Present for legacy clients that have initialized. */
  readonly session: Session | undefined;
  /** The connection that a request without a session came on, where it lasts: stdio. */
  readonly connected?: ConnectedClient | undefined;
  /** Of a modern request over HTTP: what its tool's arguments are mirrored in. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** What the headers of a request over HTTP say of its trace. */
  readonly trace?: TraceContext | undefined;
}

/** The client of a session, as those know it who look at messages. */
export function peerOfSession({ connected, clientName, principal }: Session): TapPeer {
  return { side: "client", key: connected.id, name: clientName, principal: principal.id };
}

/** The answer to a request: `"result":…` or `"error":…`, and the HTTP status to go with it. */
export interface ReplyBody {
  readonly body: WireText;
  readonly status: number;
  /** What the credential would have to permit; set where the request was refused for want of it. */
  readonly scope?: string | undefined;
}
