import { toGatewayError, GatewayError } from "../../../kernel/gateway-error.ts";
import type { ConnectionEvents } from "../connection.ts";
import { createDialect, type Dialect, type GatewayIdentity } from "../encode.ts";
import { declaredCapabilities } from "../handshake.ts";
import { openBackgroundStream, type BackgroundStream } from "./background-stream.ts";
import { openLegacySession, type LegacySession } from "./legacy-session.ts";
import type { Wire } from "./wire.ts";

/** What a session needs from its connection. */
export interface SessionOptions {
  readonly wire: Wire;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly session: LegacySession;
  /** Aborts when the connection is disposed of. */
  readonly signal: AbortSignal;
  /** Called when the session ended and the server does not open another. */
  readonly onLost: (reason: string) => void;
}

/** The session in use, and the stream on which the server sends what belongs to no request. */
export interface CurrentSession {
  readonly session: LegacySession;
  readonly dialect: Dialect;
  /** Opens a new session to replace `stale`. Everybody who finds `stale` gone gets the same new session. */
  renew(stale: LegacySession): Promise<LegacySession>;
  /** Notes that the server has answered a request in this session. */
  noteAnswered(session: LegacySession): void;
  /** Whether the server has answered in this session, or had the time to: always true for one that was replaced. */
  isProven(session: LegacySession): boolean;
  /** Closes the stream. */
  close(): void;
}

/** Begins with `options.session`, and listens on its stream. */
export function createCurrentSession(options: SessionOptions, onMessage: (message: Buffer) => void): CurrentSession {
  const { wire, events } = options;
  let session = options.session;
  let renewing: Promise<LegacySession> | undefined;
  let dialect = dialectOf();
  let isProven = false;
  let stream = listen();

  function dialectOf(): Dialect {
    return createDialect("legacy", session.peer.revision, options.identity, declaredCapabilities(wire.roots));
  }

  function listen(): BackgroundStream {
    const own = session;
    const onSessionGone = () => void renew(own).catch(() => undefined);
    return openBackgroundStream({ wire, session: own, onMessage, onSessionGone });
  }

  function renew(stale: LegacySession): Promise<LegacySession> {
    if (renewing !== undefined) return renewing;
    if (stale !== session) return Promise.resolve(session);
    renewing = replaceSession().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function replaceSession(): Promise<LegacySession> {
    const opening = await openAgain(options);
    if (opening.kind === "refused") {
      options.onLost(`the session ended, and a new one was refused: ${opening.failure.message}`);
      throw opening.failure;
    }
    stream.close();
    session = opening.session;
    dialect = dialectOf();
    isProven = false;
    stream = listen();
    events.onSessionReplaced?.();
    return session;
  }

  return {
    get session() {
      return session;
    },
    get dialect() {
      return dialect;
    },
    renew,
    noteAnswered(answered) {
      if (answered === session) isProven = true;
    },
    isProven: (candidate) => candidate !== session || isProven,
    close: () => stream.close(),
  };
}

async function openAgain({ wire, identity, signal, onLost }: SessionOptions): ReturnType<typeof openLegacySession> {
  try {
    return await openLegacySession(wire, identity, signal);
  } catch (error) {
    const failure = signal.aborted
      ? new GatewayError("UPSTREAM_CLOSED", `the connection to ${wire.address.server} was closed`)
      : toGatewayError(error);
    onLost(`the session ended, and no new one could be opened: ${failure.message}`);
    throw failure;
  }
}
