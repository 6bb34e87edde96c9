import { untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Credential } from "./credential.ts";
import { createLoginInMemory, type LoginInMemoryDeps } from "./flow/login-in-memory.ts";
import { recheckMs, renewBeforeMs, type LoginRoute } from "./flow/login-route.ts";
import { createRenewals, type RenewalsDeps } from "./renewals.ts";

export type AccountDeps = LoginInMemoryDeps & RenewalsDeps;

/** The server that the requests go to, as it is configured now. */
export interface AccountPlace {
  readonly server: string;
  readonly url: string;
  readonly route: LoginRoute;
}

export type Account = ReturnType<typeof createAccount>;

/** One instance's login in memory: read again when its file changes, renewed once however many ask. */
export function createAccount(instance: string, deps: AccountDeps) {
  const { clock } = deps;
  const login = createLoginInMemory(instance, deps);
  const renewals = createRenewals(instance, login, deps);

  function credentialFor(url: string): Credential | undefined {
    return login.credential?.serverUrl === url ? login.credential : undefined;
  }

  async function authorize(place: AccountPlace, refresh: boolean, signal: AbortSignal) {
    if (refresh) return await authorizeAnew(place, signal);
    const { server, url, route } = place;
    if (clock.monotonic() - login.checkedMs >= recheckMs) await login.reload();
    const current = credentialFor(url);
    if (current === undefined) {
      if (login.problem !== undefined)
        throw needsLogin(server, `the login that is kept cannot be used: ${login.problem}`);
      return undefined;
    }
    const age = ageOf(current, clock.now());
    if (current.tokens.refresh === undefined || age === "fresh") return login.header;
    if (age === "due") {
      if (renewals.mayTry) void renewals.renew(route).catch(() => undefined);
      return login.header;
    }
    return await renewed(place, signal);
  }

  /** After a 401: what somebody else has brought meanwhile, otherwise one refresh. */
  async function authorizeAnew(place: AccountPlace, signal: AbortSignal) {
    const before = login.credential?.tokens.access;
    await login.reload();
    const current = credentialFor(place.url);
    if (current === undefined) return undefined;
    const isNews = current.tokens.access !== before || clock.monotonic() - renewals.answeredMs < justNowMs;
    if (isNews) return login.header;
    return current.tokens.refresh === undefined ? undefined : await renewed(place, signal);
  }

  async function renewed({ server, url, route }: AccountPlace, signal: AbortSignal) {
    const renewal = await untilAborted(renewals.renew(route), signal);
    switch (renewal.kind) {
      case "tokens":
        return credentialFor(url) === undefined ? undefined : login.header;
      case "ended":
        throw needsLogin(server, `its login has ended (${renewal.reason})`);
      case "unreachable":
        throw new GatewayError("CONNECT_FAILED", `the login at ${server} cannot be renewed now: ${renewal.reason}`);
    }
  }

  return {
    reload: login.reload,
    authorize,
    credentialFor,
    get loginId() {
      return login.credential?.loginId;
    },
    get problem() {
      return login.problem;
    },
  };
}

/** A request that was under way with the old token may get its 401 after the new one has come. */
const justNowMs = 1_000;

function needsLogin(server: string, what: string): GatewayError {
  return new GatewayError("SERVER_NEEDS_LOGIN", `${server}: ${what}`, { hint: `Run \`toolyard login ${server}\`.` });
}

/** By the wall clock, because it outlives the process: a clock that is wrong costs a refresh too many, or one 401. */
export function ageOf(credential: Credential, nowMs: number): "fresh" | "due" | "expired" {
  const { expiresAtMs, obtainedAtMs } = credential.tokens;
  if (expiresAtMs === undefined) return "fresh";
  if (nowMs >= expiresAtMs) return "expired";
  const beforeMs = Math.min(renewBeforeMs, (expiresAtMs - obtainedAtMs) / 5);
  return nowMs >= expiresAtMs - beforeMs ? "due" : "fresh";
}
