import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { CredentialStore, Credential } from "./credential.ts";
import { untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createLoginInMemory, type LoginInMemoryDeps, type LoginInMemory } from "./flow/login-in-memory.ts";
import { recheckMs, renewBeforeMs, type LoginRoute, renewRetryMs } from "./flow/login-route.ts";
import { addressRulesFor } from "./protocol/addresses.ts";
import type { LoginHeaders } from "../upstream/connect.ts";
import { createOutgoing } from "./outgoing.ts";
import { renewTokens, type Renewal } from "./renew.ts";

/** Headers for one request; with those that were refused, after a 401. Undefined when no login could help. */
type Authorize = (refused: LoginHeaders | undefined, signal: AbortSignal) => Promise<LoginHeaders | undefined>;

/** The logins that the running gateway uses, one per instance. */
export interface Logins extends AsyncDisposable {
  /** How to authorize requests of an instance to its server, when somebody has logged in for it. */
  authorizeFor(instance: string, place: AccountPlace): Promise<Authorize | undefined>;
  /**
   * Which login is kept: another value after `toolyard login`, the same after a refresh. Undefined when there is
   * none.
   */
  loginOf(instance: string): Promise<string | undefined>;
  /** Looks at every login that is known again, after somebody changed some of them. */
  recheck(): Promise<void>;
  /** Tokens in use: what no log may show. Another set whenever there are others. */
  readonly secrets: ReadonlySet<string>;
  /** The instance whose login a token is of. */
  holderOf(token: string): string | undefined;
}

export interface LoginsDeps {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly onLogin?: ((instance: string, what: "login" | "logout") => void) | undefined;
}

export function createLogins(deps: LoginsDeps): Logins {
  const accounts = new Map<string, Account>();
  const renewals = new Set<Promise<unknown>>();
  let holders: ReadonlyMap<string, string> = new Map();
  let secrets: ReadonlySet<string> = new Set();
  const track = (renewal: Promise<unknown>): void => {
    renewals.add(renewal);
    void renewal.finally(() => renewals.delete(renewal)).catch(() => undefined);
  };

  /** Tokens of long ago have expired: of too many the oldest are forgotten. */
  function remember(instance: string, tokens: readonly string[]): void {
    if (tokens.every((token) => secrets.has(token))) return;
    const fresh = tokens.map((token) => [token, instance] as const);
    holders = new Map([...holders, ...fresh].slice(-mostSecrets));
    secrets = new Set(holders.keys());
  }

  function accountOf(instance: string): Account {
    const known = accounts.get(instance);
    if (known !== undefined) return known;
    const account = createAccount(instance, { ...deps, track, remember: (tokens) => remember(instance, tokens) });
    accounts.set(instance, account);
    return account;
  }

  return {
    async authorizeFor(instance, place) {
      const account = accountOf(instance);
      await account.reload();
      return account.credentialFor(place.url) === undefined && account.problem === undefined
        ? undefined
        : (refused, signal) => account.authorize(place, refused, signal);
    },
    async recheck() {
      for (const account of accounts.values()) await account.reload();
    },
    async loginOf(instance) {
      const account = accountOf(instance);
      await account.reload();
      return account.loginId;
    },
    get secrets() {
      return secrets;
    },
    holderOf: (token) => holders.get(token),
    async [Symbol.asyncDispose]() {
      // A refresh that is under way has perhaps used up the old token already: what it brings must be kept.
      await Promise.allSettled(renewals);
    },
  };
}

const mostSecrets = 1_000;

/** The server that the requests go to, as it is configured now. */
interface AccountPlace {
  readonly server: string;
  readonly url: string;
  readonly route: LoginRoute;
}

type Account = ReturnType<typeof createAccount>;

/** One instance's login in memory: read again when its file changes, renewed once however many ask. */
function createAccount(instance: string, deps: LoginInMemoryDeps & RenewalsDeps) {
  const { clock } = deps;
  const login = createLoginInMemory(instance, deps);
  const renewals = createRenewals(instance, login, deps);

  function credentialFor(url: string): Credential | undefined {
    return login.credential?.serverUrl === url ? login.credential : undefined;
  }

  async function authorize(place: AccountPlace, refused: LoginHeaders | undefined, signal: AbortSignal) {
    if (refused !== undefined) return await authorizeAnew(place, refused, signal);
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
  async function authorizeAnew(place: AccountPlace, refused: LoginHeaders, signal: AbortSignal) {
    await login.reload();
    const current = credentialFor(place.url);
    if (current === undefined) return undefined;
    if (login.header?.["authorization"] !== refused["authorization"]) return login.header;
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

/** The renewals of one login: one at a time, for all who need it. */
interface Renewals {
  /** False for a while after the authorization server could not be reached, unless somebody logged in meanwhile. */
  readonly mayTry: boolean;
  /** Shared by all who need it, and not ended by any of them: what the authorization server sends must be kept. */
  renew(route: LoginRoute): Promise<Renewal>;
}

interface RenewalsDeps {
  readonly store: Pick<CredentialStore, "exclusively">;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of every renewal, so that the gateway does not end in the middle of one. */
  readonly track: (renewal: Promise<unknown>) => void;
}

function createRenewals(instance: string, login: LoginInMemory, deps: RenewalsDeps): Renewals {
  const { store, clock, log } = deps;
  let running: Promise<Renewal> | undefined;
  let retry: { readonly loginId: string; readonly atMs: number } | undefined;

  async function renewOnce(route: LoginRoute, before: string | undefined): Promise<Renewal> {
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
    await login.keep(
      renewal.kind === "tokens"
        ? { ...current, tokens: renewal.tokens, scope: renewal.scope }
        : { ...current, tokens: { ...current.tokens, refresh: undefined } },
    );
    return renewal;
  }

  return {
    get mayTry() {
      return retry === undefined || retry.loginId !== login.credential?.loginId || clock.monotonic() >= retry.atMs;
    },
    renew(route) {
      if (running !== undefined) return running;
      const never = new AbortController().signal;
      // The one that does not help: while it is waited here, another process may bring a new one.
      const before = login.credential?.tokens.access;
      const renewal = store
        .exclusively(instance, never, async () => await renewOnce(route, before))
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
