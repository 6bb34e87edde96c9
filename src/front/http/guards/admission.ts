import type { Limits } from "../../../config/config.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../../kernel/text/number-text.ts";
import type { Principal } from "../../../kernel/principal.ts";

/**
 * Limits what one person may use at once, so that a client out of control disturbs no one else (fault K). A user in
 * several teams is one person, who would otherwise have more the more teams they are in.
 */
export interface Admission {
  /**
   * Counts a request. Returns a function that is to be called once, when the request ends, with the size of its
   * answer: a large answer counts as several calls, because it takes as much time as several. Throws RATE_LIMITED
   * with `retry_after_s`.
   */
  admit(principal: Principal): (answerBytes?: number) => void;
  /**
   * Counts a stream that stays open. Returns a function that is to be called once, when the stream ends. Throws
   * RATE_LIMITED with `retry_after_s`.
   */
  openStream(principal: Principal): () => void;
  /** Streams that are open now, of everybody. */
  readonly streams: number;
  /** What each person uses here; gateways that share limits read it, and add the use elsewhere. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** That of a person who may not have called here yet. */
  account(person: string): Account;
}

export type AdmissionLimits = Pick<Limits, "concurrentCalls" | "callsPerSecond" | "openStreams">;

/** One per person who has ever called. Its functions are created once, so that a call allocates nothing. */
export interface Account {
  running: number;
  streams: number;
  /** Requests that may start now. Refilled over time, up to the amount of one second. */
  tokens: number;
  /** Those that were taken here since other gateways were told. */
  spent: number;
  /** What runs and is open at other gateways that share the limits. */
  readonly elsewhere: { running: number; streams: number };
  refilledMs: number;
  readonly leave: (answerBytes?: number) => void;
  readonly closeStream: () => void;
}

/** Handling this much of an answer takes the gateway about as long as a call to a local server. */
const bytesPerCall = 65_536;
/** Given because it is unknown when a running call will end. */
const busyRetryS = 1;
const streamRetryS = 30;

/** `limits` is called each time, because an edited configuration changes the limits. */
export function createAdmission(limits: () => AdmissionLimits, clock: Clock): Admission {
  const accounts = new Map<string, Account>();

  function openAccount(id: string): Account {
    const account: Account = {
      running: 0,
      streams: 0,
      tokens: limits().callsPerSecond,
      spent: 0,
      elsewhere: { running: 0, streams: 0 },
      refilledMs: clock.monotonic(),
      leave(answerBytes = 0) {
        account.running -= 1;
        spend(account, Math.floor(answerBytes / bytesPerCall));
      },
      closeStream: () => void (account.streams -= 1),
    };
    accounts.set(id, account);
    return account;
  }

  const find = (id: string): Account => accounts.get(id) ?? openAccount(id);

  function refill(account: Account, perSecond: number): void {
    const nowMs = clock.monotonic();
    account.tokens = Math.min(perSecond, account.tokens + ((nowMs - account.refilledMs) / 1_000) * perSecond);
    account.refilledMs = nowMs;
  }

  return {
    admit({ user, id }) {
      const { callsPerSecond, concurrentCalls } = limits();
      const account = find(user ?? id);
      if (account.tokens < 1 || account.tokens < callsPerSecond / 2) refill(account, callsPerSecond);
      if (account.tokens < 1)
        throw refusal(
          `more than ${callsPerSecond} requests a second (limits.callsPerSecond)`,
          settingNow("limits.callsPerSecond", callsPerSecond),
          Math.ceil((1 - account.tokens) / callsPerSecond),
        );
      const running = account.running + account.elsewhere.running;
      if (running >= concurrentCalls)
        throw refusal(
          `${running} requests of this principal are being worked on already (limits.concurrentCalls)`,
          settingNow("limits.concurrentCalls", concurrentCalls),
          busyRetryS,
        );
      spend(account, 1);
      account.running += 1;
      return account.leave;
    },
    openStream({ user, id }) {
      const { openStreams } = limits();
      const account = find(user ?? id);
      const streams = account.streams + account.elsewhere.streams;
      if (streams >= openStreams)
        throw refusal(
          `${streams} streams are open for this principal already (limits.openStreams)`,
          settingNow("limits.openStreams", openStreams),
          streamRetryS,
        );
      account.streams += 1;
      return account.closeStream;
    },
    get streams() {
      return [...accounts.values()].reduce((sum, account) => sum + account.streams, 0);
    },
    accounts,
    account: find,
  };
}

function spend(account: Account, calls: number): void {
  account.tokens -= calls;
  account.spent += calls;
}

function refusal(message: string, setting: string, retryAfterS: number): GatewayError {
  return new GatewayError("RATE_LIMITED", message, {
    data: { retry_after_s: retryAfterS },
    hint: `Wait as long as Retry-After says, or raise ${setting}.`,
  });
}
