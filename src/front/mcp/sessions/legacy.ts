import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import type { ClientMessage } from "../../../wire/mcp/client-message.ts";
import type { ClientNote } from "../../../cluster/peers/messages.ts";
import { questionPrefix } from "./client-questions.ts";
import { createSessionMethods, withNotes, type SessionMethods, type SessionMethodsDeps } from "./session-methods.ts";
import { createSessionStart, type SessionStart, type SessionStartDeps } from "./session-start.ts";
import type { Session } from "./session.ts";

export interface LegacyDeps extends SessionStartDeps, SessionMethodsDeps {
  /** Tells the other nodes of a cluster; undefined where there are none. */
  readonly tellNodes: () => ((note: ClientNote, body?: JsonBytes) => unknown) | undefined;
}

type SentMessage = Exclude<ClientMessage, { kind: "request" }>;

/** What only legacy clients have, whichever transport they come by: `initialize`, and what belongs to a session. */
export interface LegacyRequests {
  readonly initialize: SessionStart["initialize"];
  readonly again: SessionStart["again"];
  /** The client has ended the session: other gateways that have it end it as well. */
  end(session: Session): void;
  /** Takes a notification, or the client's answer to a question. Without a session there is nothing to do. */
  receive(message: SentMessage, session: Session | undefined): void;
  /** Takes what a client sent to another node, where nothing waited for it. */
  hear(note: ClientNote, body: JsonBytes): void;
  readonly answer: SessionMethods;
  /** The same, of which other nodes are not told. */
  readonly methods: SessionMethods;
}

export function createLegacyRequests(deps: LegacyDeps): LegacyRequests {
  function tellNodes(message: SentMessage, { id: session, principal }: Session): void {
    const from = { question: "client", session, principal: principal.id } as const;
    if (message.kind === "notification") return void deps.tellNodes()?.({ ...from, said: message });
    // What no gateway asked is nothing for others.
    if (!String(message.id).startsWith(questionPrefix)) return;
    const { kind, bytes } = message.body;
    deps.tellNodes()?.({ ...from, said: { kind: "response", id: message.id, as: kind } }, bytes);
  }

  const methods = createSessionMethods(deps);
  return {
    ...createSessionStart(deps),
    end(session) {
      deps.sealed()?.tellEnd(session);
      deps.sessions.end(session, "the client ended the session");
    },
    receive(message, session) {
      if (session === undefined || receive(message, session)) return;
      // The call that it is about may run at another node.
      tellNodes(message, session);
    },
    hear({ session: id, principal, said }, bytes) {
      const session = deps.sessions.held(id);
      if (session?.principal.id !== principal) return;
      receive(said.kind === "notification" ? said : { ...said, body: { kind: said.as, bytes } }, session);
    },
    answer: withNotes(methods, () => deps.notes?.()),
    methods,
  };
}

/** False where nothing here waits for it. */
function receive(message: SentMessage, session: Session): boolean {
  if (message.kind === "response") {
    const { kind, bytes } = message.body;
    return session.questions.answer(message.id, kind === "result" ? { kind, result: bytes } : { kind, error: bytes });
  }
  switch (message.method) {
    case "notifications/initialized":
      session.isInitialized = true;
      return true;
    case "notifications/cancelled":
      return session.requests.cancel(message.params);
    case "notifications/progress":
      return session.questions.progress(message.params);
    case "notifications/roots/list_changed":
      session.onRootsChanged?.(message.params);
      return true;
    default:
      return true;
  }
}
