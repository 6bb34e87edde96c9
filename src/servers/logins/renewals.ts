import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { addressRulesFor } from "./protocol/addresses.ts";
import type { Credential, CredentialStore } from "./credential.ts";
import type { LoginInMemory } from "./flow/login-in-memory.ts";
import { renewRetryMs, type LoginRoute } from "./flow/login-route.ts";
import { createOutgoing } from "./outgoing.ts";
import { renewTokens, type Renewal } from "./renew.ts";

/** The renewals of one login: one at a time, for all who need it. */
export interface Renewals {
  /** Monotonic ms of the last one that the authorization server answered. */
  readonly answeredMs: number;
  /** False for a while after the authorization server could not be reached, unless somebody logged in meanwhile. */
  readonly mayTry: boolean;
  /** Shared by all who need it, and not ended by any of them: what the authorization server sends must be kept. */
  renew(route: LoginRoute): Promise<Renewal>;
}

export interface RenewalsDeps {
  readonly store: Pick<CredentialStore, "exclusively">;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of every renewal, so that the gateway does not end in the middle of one. */
  readonly track: (renewal: Promise<unknown>) => void;
}

export function createRenewals(instance: string, login: LoginInMemory, deps: RenewalsDeps): Renewals {
  const { store, clock, log } = deps;
  let running: Promise<Renewal> | undefined;
  let answeredMs = Number.NEGATIVE_INFINITY;
  let retry: { readonly loginId: string; readonly atMs: number } | undefined;

  async function renewOnce(route: LoginRoute): Promise<Renewal> {
    const before = login.credential?.tokens.access;
    await login.reload();
    const current = login.credential;
    if (current === undefined) return { kind: "ended", reason: "logged out" };
    // Another process was faster, or somebody logged in.
    if (current.tokens.access !== before) return { kind: "tokens", tokens: current.tokens, scope: current.scope };
    if (current.tokens.refresh === undefined)
      return { kind: "ended", reason: "the authorization server gave no refresh token" };
    const renewal = await askForTokens(current, current.tokens.refresh, route, clock.now());
    if (renewal.kind === "unreachable") {
      retry = { loginId: current.loginId, atMs: clock.monotonic() + renewRetryMs };
      log.warn(
        { component: "oauth", instance, operation: "refresh" },
        `the login of ${instance} could not be renewed yet: ${renewal.reason}`,
      );
      return renewal;
    }
    log.info(
      { component: "oauth", instance, operation: "refresh" },
      renewal.kind === "tokens"
        ? `the login of ${instance} was renewed`
        : `the login of ${instance} has ended: ${renewal.reason}`,
    );
    answeredMs = clock.monotonic();
    await login.keep(
      renewal.kind === "tokens"
        ? { ...current, tokens: renewal.tokens, scope: renewal.scope }
        : { ...current, tokens: { ...current.tokens, refresh: undefined } },
    );
    return renewal;
  }

  return {
    get answeredMs() {
      return answeredMs;
    },
    get mayTry() {
      return retry === undefined || retry.loginId !== login.credential?.loginId || clock.monotonic() >= retry.atMs;
    },
    renew(route) {
      if (running !== undefined) return running;
      const never = new AbortController().signal;
      const renewal = store
        .exclusively(instance, never, async () => await renewOnce(route))
        .finally(() => {
          running = undefined;
        });
      running = renewal;
      deps.track(renewal);
      return renewal;
    },
  };
}

async function askForTokens(
  current: Credential,
  refreshToken: string,
  route: LoginRoute,
  nowMs: number,
): Promise<Renewal> {
  try {
    const outgoing = createOutgoing(await addressRulesFor(current.serverUrl), { serverUrl: current.serverUrl, route });
    return await renewTokens(current, refreshToken, outgoing, nowMs);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { kind: "unreachable", reason: error.message };
  }
}
