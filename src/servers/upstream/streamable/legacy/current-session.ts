import { toGatewayError, GatewayError } from "../../../../kernel/failures/gateway-error.ts";
import { requestText } from "../../../../wire/mcp/envelope.ts";
import { capabilitiesOf } from "../../declared-capabilities.ts";
import type { ConnectionEvents } from "../../connection.ts";
import { createDialect, type Dialect, type GatewayIdentity } from "../../messages/encode.ts";
import type { RenewalBudget } from "../../messages/renewal-budget.ts";
import { openBackgroundStream, type BackgroundStream } from "../background-stream.ts";
import { exchangeOnce } from "../exchange/exchange-once.ts";
import { openLegacySession, type LegacySession } from "./legacy-session.ts";
import { isAlike, signOfOutcome, type RefusalSign } from "../exchange/refusal-sign.ts";
import type { Wire } from "../exchange/wire.ts";

/** What a session needs from its connection. */
export interface SessionOptions {
  readonly wire: Wire;
  readonly identity: GatewayIdentity;
  readonly events: ConnectionEvents;
  readonly session: LegacySession;
  /** Shared by all connections to the server, one after the other. */
  readonly renewals: RenewalBudget;
  /** Aborts when the connection is disposed of. */
  readonly signal: AbortSignal;
  /** Called when the session ended and the server does not open another. */
  readonly onLost: (reason: string) => void;
}

/** The session in use, and the stream on which the server sends what belongs to no request. */
export interface CurrentSession {
  readonly session: LegacySession;
  readonly dialect: Dialect;
  /**
   * Opens a new session to replace `stale`: the only place where that happens. All callers that find `stale` lost get
   * the same new session. Undefined when there were too many; then the refusal is final.
   */
  renew(stale: LegacySession): Promise<LegacySession | undefined>;
  /**
   * Whether the server refuses everything in this session as it refused a request: then it has lost the session, and
   * the request did not run. Asked with a ping, shared by all requests that are refused meanwhile.
   */
  isLost(session: LegacySession, sign: RefusalSign): Promise<boolean>;
  /** Notes that the server has answered a request in this session. */
  noteAnswered(session: LegacySession): void;
  /** Whether the server has answered in this session, or had the time to: always true for one that was replaced. */
  isProven(session: LegacySession): boolean;
  /** Closes the stream. */
  close(): void;
}

/** No request has this id: tables count from 1, and `initialize` has 0. */
const pingText = requestText(-1, "ping", "{}");

/** Begins with `options.session`, and listens on its stream. */
export function createCurrentSession(options: SessionOptions, onMessage: (message: Buffer) => void): CurrentSession {
  const { wire, events, renewals } = options;
  let session = options.session;
  let renewing: Promise<LegacySession | undefined> | undefined;
  let pinging: Promise<RefusalSign | undefined> | undefined;
  /** How a session that has ended, or is ending, refuses everything. */
  let refusing: { readonly session: LegacySession; readonly sign: RefusalSign } | undefined;
  let dialect = dialectOf();
  let isProven = false;
  let isReplacement = false;
  let stream = listen();

  function dialectOf(): Dialect {
    const { peer, rung } = session;
    return createDialect("legacy", peer.revision, options.identity, capabilitiesOf(rung, wire.roots !== undefined));
  }

  function listen(): BackgroundStream {
    const own = session;
    const onRefused = (sign: RefusalSign) =>
      void isLost(own, sign)
        .then(async (lost) => (lost ? await renew(own) : undefined))
        .catch(() => undefined);
    return openBackgroundStream({ wire, session: own, onMessage, onRefused });
  }

  function renew(stale: LegacySession): Promise<LegacySession | undefined> {
    if (renewing !== undefined) return renewing;
    if (stale !== session) return Promise.resolve(session);
    const may = renewals.take();
    if (may === "exhausted") events.onRenewalsExhausted?.();
    if (may !== "now") return Promise.resolve(undefined);
    renewing = replaceSession().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function replaceSession(): Promise<LegacySession> {
    const opening = await openAgain(options, session);
    if (opening.kind === "refused") {
      options.onLost(`the session ended, and a new one was refused: ${opening.failure.message}`);
      throw opening.failure;
    }
    stream.close();
    session = opening.session;
    dialect = dialectOf();
    isProven = false;
    isReplacement = true;
    stream = listen();
    return session;
  }

  async function isLost(asked: LegacySession, sign: RefusalSign): Promise<boolean> {
    // An error in an ordinary answer may be a tool's own, also where the session was lost after it.
    const isOfGone = (): boolean =>
      asked !== session && (sign.status !== 200 || (refusing?.session === asked && isAlike(sign, refusing.sign)));
    if (asked !== session) return isOfGone();
    pinging ??= ping(options, asked).finally(() => {
      pinging = undefined;
    });
    const answer = await pinging;
    if (answer !== undefined) refusing = { session: asked, sign: answer };
    return isOfGone() || (answer !== undefined && isAlike(sign, answer));
  }

  return {
    get session() {
      return session;
    },
    get dialect() {
      return dialect;
    },
    renew,
    isLost,
    noteAnswered(answered) {
      if (answered !== session || isProven) return;
      isProven = true;
      renewals.noteProven();
      // Not before: a session that is lost at once must not have everything listed again.
      if (isReplacement) events.onSessionReplaced?.();
    },
    isProven: (candidate) => candidate !== session || isProven,
    close: () => stream.close(),
  };
}

/** How the session refuses a ping; undefined where it is answered, or nothing is known. */
async function ping({ wire, signal }: SessionOptions, session: LegacySession): Promise<RefusalSign | undefined> {
  try {
    const outgoing = { method: "POST", headers: session.postHeaders, body: pingText } as const;
    const outcome = await exchangeOnce(wire, outgoing, { signal, timeoutMs: wire.tuning.postTimeoutMs });
    return signOfOutcome(outcome, wire.limits.depth);
  } catch {
    return undefined;
  }
}

async function openAgain(
  { wire, identity, signal, onLost }: SessionOptions,
  { rung }: LegacySession,
): ReturnType<typeof openLegacySession> {
  try {
    return await openLegacySession(wire, identity, rung, signal);
  } catch (error) {
    const failure = signal.aborted
      ? new GatewayError("UPSTREAM_CLOSED", `the connection to ${wire.address.server} was closed`)
      : toGatewayError(error);
    // The failure of the call tells that a login is needed; the connection itself is not lost.
    if (failure.code !== "SERVER_NEEDS_LOGIN")
      onLost(`the session ended, and no new one could be opened: ${failure.message}`);
    throw failure;
  }
}
