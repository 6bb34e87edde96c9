import type { ClientMessage } from "../../../wire/mcp/client-message.ts";
import { createSessionMethods, type SessionMethods, type SessionMethodsDeps } from "./session-methods.ts";
import { createSessionStart, type SessionStart, type SessionStartDeps } from "./session-start.ts";
import type { Session } from "./session.ts";

export type LegacyDeps = SessionStartDeps & SessionMethodsDeps;

/** What only legacy clients have, whichever transport they come by: `initialize`, and what belongs to a session. */
export interface LegacyRequests {
  readonly initialize: SessionStart["initialize"];
  readonly again: SessionStart["again"];
  /** The client has ended the session: other gateways that have it end it as well. */
  end(session: Session): void;
  /** Takes a notification, or the client's answer to a question. Without a session there is nothing to do. */
  receive(message: Exclude<ClientMessage, { kind: "request" }>, session: Session | undefined): void;
  readonly answer: SessionMethods;
}

export function createLegacyRequests(deps: LegacyDeps): LegacyRequests {
  return {
    ...createSessionStart(deps),
    end(session) {
      deps.sealed()?.tellEnd(session);
      deps.sessions.end(session, "the client ended the session");
    },
    receive(message, session) {
      if (session !== undefined) receive(message, session);
    },
    answer: createSessionMethods(deps),
  };
}

function receive(message: Exclude<ClientMessage, { kind: "request" }>, session: Session): void {
  if (message.kind === "response") {
    const { body } = message;
    session.questions.answer(
      message.id,
      body.kind === "result" ? { kind: "result", result: body.bytes } : { kind: "error", error: body.bytes },
    );
    return;
  }
  switch (message.method) {
    case "notifications/initialized":
      session.isInitialized = true;
      return;
    case "notifications/cancelled":
      session.requests.cancel(message.params);
      return;
    case "notifications/progress":
      session.questions.progress(message.params);
      return;
    case "notifications/roots/list_changed":
      session.onRootsChanged?.(message.params);
      return;
    default:
  }
}
