import type { InstanceSettings } from "../../../config/config.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { type GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Reply, UpstreamRequest } from "../../upstream/connection.ts";
import type { Opened } from "../instance-deps.ts";
import { createBreaker, type Breaker, type BreakerOptions, type CallEnd } from "./breaker.ts";

/** The requests to one process or address, and the breaker that watches how they end. */
export interface WatchedCalls {
  readonly breaker: Breaker;
  /** Requests that were sent and have not ended. */
  readonly running: number;
  request(wanted: UpstreamRequest): Promise<Reply>;
}

export interface WatchedCallsOptions extends Pick<BreakerOptions, "isOn" | "onChange"> {
  readonly clock: Clock;
  readonly settings: () => InstanceSettings;
  /** Whether it is a process: its end is noticed without a call. */
  readonly canCrash: boolean;
  readonly lifetime: AbortSignal;
  readonly connection: () => Opened | undefined;
  /** Called when it could not be reached over a connection that has not ended. */
  readonly onUnreachable: (on: Opened, reason: string) => void;
}

/** How long a server may take to give a sign of life. */
const signOfLifeMs = 5_000;

/** None at first. */
export function createWatchedCalls(options: WatchedCallsOptions): WatchedCalls {
  const { clock, settings, canCrash, isOn, onChange } = options;
  const breaker = createBreaker({ clock, policy: settings, isOn, isAlive, onChange });
  let running = 0;

  async function isAlive(): Promise<boolean> {
    const connection = options.connection();
    if (connection === undefined) return false;
    const method = connection.peer.era === "modern" ? "server/discover" : "ping";
    const signal = abortAfter(signOfLifeMs, options.lifetime);
    const times = { timeoutMs: signOfLifeMs, maxTimeoutMs: signOfLifeMs };
    try {
      await connection.request({ method, params: [], signal, ...times });
      return true;
    } catch (error) {
      // What was refused on purpose is a sign of life, too.
      return !signal.aborted && endOf(toGatewayError(error), canCrash) === undefined;
    }
  }

  async function request(wanted: UpstreamRequest): Promise<Reply> {
    const on = options.connection() as Opened;
    // It lasts as long as the connection, and says nothing about calls.
    if (wanted.method === "subscriptions/listen") return await on.request(wanted);
    const sent = breaker.noteSent();
    let end: CallEnd | undefined;
    running += 1;
    try {
      const reply = await on.request(wanted);
      end = "ok";
      return reply;
    } catch (error) {
      const failure = toGatewayError(error);
      end = endOf(failure, canCrash);
      if (failure.code === "CONNECT_FAILED" && !canCrash) options.onUnreachable(on, failure.message);
      throw failure;
    } finally {
      running -= 1;
      breaker.noteEnd(sent, wanted.nameHeader ?? wanted.method, end);
    }
  }

  return {
    ...{ breaker, request },
    get running() {
      return running;
    },
  };
}

/**
 * What the failure of a request says about the server; undefined where it says nothing: it answered on purpose, or
 * the caller gave up.
 */
function endOf({ code, data }: GatewayError, canCrash: boolean): CallEnd | undefined {
  switch (code) {
    case "UPSTREAM_TIMEOUT":
      return "silent";
    case "UPSTREAM_CLOSED":
      return canCrash ? undefined : "broken";
    case "CONNECT_FAILED":
      return "broken";
    case "UPSTREAM_HTTP":
      return Number(data?.["status"]) >= 500 ? "broken" : undefined;
    default:
      return undefined;
  }
}
