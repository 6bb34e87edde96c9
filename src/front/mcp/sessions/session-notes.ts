import type { Elsewhere } from "../../../cluster/peers/held-things.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Caller } from "../caller.ts";
import type { EndpointOf } from "../endpoint/endpoint.ts";
import type { SessionMethods, SessionRequest, TellNodes } from "./session-methods.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/**
 * What a client set in a session (its log level, the resources that it watches) holds at every node that has the
 * session: its event stream may be at any of them, and each has the session for itself.
 */
export interface SessionNotes extends TellNodes {
  /** The client has changed its session here. Resolves when the others have done the same, or after a second. */
  tell: TellNodes["tell"];
  /** The session was made again here: asks the others how it is. Resolves when they have said, or after a second. */
  fill(session: Session): Promise<void>;
}

export interface SessionNotesDeps {
  readonly elsewhere: Elsewhere;
  readonly sessions: Pick<SessionStore, "held">;
  readonly methods: SessionMethods;
  readonly endpointOf: EndpointOf;
}

interface AboutSession {
  readonly session: string;
  readonly principal: string;
  /** What its client asked for; absent where the session's state is asked for. */
  readonly did?: SessionRequest;
}

/** Does from now on what clients asked other nodes for. */
export function createSessionNotes({ elsewhere, sessions, methods, endpointOf }: SessionNotesDeps): SessionNotes {
  async function redo(session: Session, request: SessionRequest): Promise<void> {
    const endpoint = endpointOf(session.endpointPath);
    if (endpoint === undefined) return;
    const { revision, capabilities, clientName: name } = session;
    const caller: Caller = {
      ...{ principal: session.principal, endpoint, via: "http", session },
      client: { era: "legacy", revision, capabilities, name },
    };
    // A server that refuses it here has refused it there, or is told of with the next change.
    await methods(request, caller, new AbortController().signal);
  }

  elsewhere.answer("session", async ({ about }) => {
    const { session: id, principal, did } = about as unknown as AboutSession;
    const session = sessions.held(id);
    if (session?.principal.id !== principal) return undefined;
    if (did !== undefined) await redo(session, did);
    return { about: { done: did === undefined ? stateOf(session) : [] } };
  });

  const aboutOf = ({ id, principal }: Session): AboutSession => ({ session: id, principal: principal.id });

  return {
    async tell(session, { method, params }) {
      const about = { ...aboutOf(session), did: { method, params: { uri: params["uri"], level: params["level"] } } };
      await elsewhere.others({ kind: "session", about, isHarmless: true });
    },
    async fill(session) {
      const states = await elsewhere.others({ kind: "session", about: { ...aboutOf(session) }, isHarmless: true });
      // Not waited for: to watch a resource may take the start of its server.
      for (const { about } of states)
        for (const request of (about["done"] ?? []) as SessionRequest[]) void redo(session, request);
    },
  };
}

/** As the requests that lead to it. */
function stateOf({ logLevel, watched }: Session): readonly SessionRequest[] {
  const request = (method: string, params: JsonObject): SessionRequest => ({ method, params });
  return [
    ...(logLevel === undefined ? [] : [request("logging/setLevel", { level: logLevel })]),
    ...[...watched.spellings.values()].map((uri) => request("resources/subscribe", { uri })),
  ];
}
