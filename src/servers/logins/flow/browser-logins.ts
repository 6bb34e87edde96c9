import { abortAfter, untilAborted } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Callback } from "./callback.ts";
import type { LoginOptions } from "../login-flow.ts";
import { loginTimeoutMs } from "./login-route.ts";

/** Logins that people make at servers with the browser in which they are logged in at the gateway. */
export interface BrowserLogins {
  /** Resolves to the address at which the person logs in. Rejects with LOGIN_FAILED and RATE_LIMITED. */
  begin(wanted: WantedLogin): Promise<string>;
  /**
   * Takes the answer that the browser brought back. Resolves to the instance when the login is kept. Rejects with
   * FORBIDDEN for an answer without a waiting login, or from another browser; it is not used then.
   */
  finish(answer: URLSearchParams, browser: string): Promise<FinishedLogin>;
}

export interface WantedLogin {
  readonly instance: string;
  readonly person: string;
  /** The person's browser: only it may bring the answer. */
  readonly browser: string;
  /** Where the browser comes back to. */
  readonly redirectUrl: string;
  /** Whether the person may still do it when the answer comes: throws where not, and the answer is not used. */
  readonly mayFinish: () => void;
  /** Carries it out. */
  readonly logIn: (way: Pick<LoginOptions, "open" | "openCallback">, signal: AbortSignal) => Promise<void>;
}

export interface FinishedLogin {
  readonly instance: string;
  /** Why it failed. */
  readonly problem: GatewayError | undefined;
}

/** Where gateways share people: a browser may come back to another one than that where its login began. */
export interface LoginRelay {
  /** A login waits here for the answer with this state; false: it waits no longer. Resolves when others know. */
  note(state: string, isWaiting: boolean): Promise<void>;
  /** Brings the answer to the gateway where its login waits. Rejects with FORBIDDEN where it waits nowhere. */
  bring(answer: URLSearchParams, browser: string): Promise<FinishedLogin>;
  /** Calls `finish` with answers that came to another gateway, of logins that wait here. */
  serve(finish: BrowserLogins["finish"]): void;
}

interface Waiting {
  readonly instance: string;
  readonly browser: string;
  readonly mayFinish: () => void;
  readonly take: (query: Promise<URLSearchParams>) => void;
  readonly done: Promise<void>;
}

/** A person has a few pages open; the others are forgotten ones, which end by themselves. */
const mostOfBrowser = 5;
/** Somebody may be logged in with several browsers. All of them together leave places for other people. */
const mostOfPerson = 15;
const mostInAll = 500;

/** They wait in memory: a login that is in progress when the gateway ends has to begin again. */
export function createBrowserLogins(relay?: LoginRelay): BrowserLogins {
  const waiting = new Map<string, Waiting>();
  /** All that have not ended: before there is an answer to wait for, servers are asked, which may take their time. */
  const begun = new Set<Pick<WantedLogin, "person" | "browser">>();

  function requireRoom({ person, browser }: WantedLogin): void {
    const ofPerson = [...begun].filter((one) => one.person === person);
    const ofBrowser = ofPerson.filter((one) => one.browser === browser);
    if (ofBrowser.length < mostOfBrowser && ofPerson.length < mostOfPerson && begun.size < mostInAll) return;
    throw new GatewayError("RATE_LIMITED", "there are too many unfinished logins", {
      hint: `Finish one of them, or try again in ${loginTimeoutMs / 60_000} minutes.`,
    });
  }

  async function finish(answer: URLSearchParams, browser: string): Promise<FinishedLogin> {
    const state = answer.get("state") ?? "";
    const found = waiting.get(state);
    // It works once, whichever browser brings it.
    waiting.delete(state);
    if (found === undefined || found.browser !== browser) throw waitsNowhere();
    const { instance, mayFinish } = found;
    // Before the code in it is taken anywhere: a refusal ends the login.
    const allowed = async (): Promise<URLSearchParams> => {
      await Promise.resolve(mayFinish());
      return answer;
    };
    found.take(allowed());
    return await found.done.then(
      () => ({ instance, problem: undefined }),
      (error: unknown) => {
        if (error instanceof GatewayError && error.code !== "INTERNAL") return { instance, problem: error };
        throw error;
      },
    );
  }
  relay?.serve(finish);

  return {
    async begin(wanted) {
      requireRoom(wanted);
      const { instance, browser, redirectUrl, mayFinish, logIn } = wanted;
      begun.add(wanted);
      let noted: Promise<void> | undefined;
      return await new Promise((opened, failed) => {
        const openCallback = async (): Promise<Callback> =>
          await Promise.resolve(
            createCallback(redirectUrl, (state, take) => {
              noted = relay?.note(state, take !== undefined);
              if (take === undefined) waiting.delete(state);
              else waiting.set(state, { instance, browser, mayFinish, take, done });
            }),
          );
        // Twice as long as the person has: for the exchanges before and after.
        const open = (url: string): void => void Promise.resolve(noted).then(() => opened(url));
        const done: Promise<void> = logIn({ open, openCallback }, abortAfter(2 * loginTimeoutMs));
        done.catch(failed).finally(() => begun.delete(wanted));
      });
    },
    finish: async (answer, browser) =>
      relay === undefined || waiting.has(answer.get("state") ?? "")
        ? await finish(answer, browser)
        : await relay.bring(answer, browser),
  };
}

export function waitsNowhere(): GatewayError {
  return new GatewayError("FORBIDDEN", "no login in this browser waits for this answer", {
    hint: "Begin the login again.",
  });
}

/** @param wait told of the state whose answer is waited for, and again, without anybody to take it, when that ends */
function createCallback(
  redirectUrl: string,
  wait: (state: string, take: Waiting["take"] | undefined) => void,
): Callback {
  let mine = "";
  return {
    redirectUrl,
    async response(state, signal) {
      mine = state;
      return await untilAborted(new Promise((take) => wait(state, take)), signal);
    },
    async [Symbol.asyncDispose]() {
      wait(mine, undefined);
      await Promise.resolve();
    },
  };
}
