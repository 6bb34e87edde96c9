import type { Log } from "../../kernel/log.ts";
import { untilAborted } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { addressRulesFor } from "./addresses.ts";
import {
  parseCredential,
  serializeCredential,
  type Credential,
  type CredentialStore,
  type KeptCredential,
} from "./credential.ts";
import { recheckMs, renewBeforeMs, renewRetryMs } from "./login-limits.ts";
import { createOutgoing } from "./outgoing.ts";
import { renewTokens, type Renewal } from "./renew.ts";

export interface AccountDeps {
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of every renewal, so that the gateway does not end in the middle of one. */
  readonly track: (renewal: Promise<unknown>) => void;
  /** Gets every token that is used. */
  readonly secrets: Set<string>;
}

export type Account = ReturnType<typeof createAccount>;

/** One instance's login in memory: read again when its file changes, renewed once however many ask. */
export function createAccount(instance: string, deps: AccountDeps) {
  const { store, clock, log } = deps;
  let credential: Credential | undefined;
  let header: Readonly<Record<string, string>> | undefined;
  let problem: string | undefined;
  let revision: string | undefined;
  let renewing: Promise<Renewal> | undefined;
  let checkedMs = Number.NEGATIVE_INFINITY;
  let renewedMs = Number.NEGATIVE_INFINITY;
  let retryMs = Number.NEGATIVE_INFINITY;

  function take(next: Credential | undefined): void {
    credential = next;
    header = next === undefined ? undefined : Object.freeze({ authorization: `Bearer ${next.tokens.access}` });
    if (next === undefined) return;
    for (const secret of [next.tokens.access, next.tokens.refresh, next.client.secret])
      if (secret !== undefined) deps.secrets.add(secret);
    // Tokens of long ago have expired: the oldest are forgotten first.
    for (const oldest of deps.secrets) if (deps.secrets.size > mostSecrets) deps.secrets.delete(oldest);
  }

  async function reload(): Promise<void> {
    checkedMs = clock.monotonic();
    const found = await store.revision(instance);
    if (found === revision) return;
    const kept = await readKept();
    const next = kept.kind === "text" ? parseCredential(kept.text) : undefined;
    revision = found;
    problem =
      kept.kind === "unreadable"
        ? kept.reason
        : kept.kind === "text" && next === undefined
          ? "its file is of another version of toolyard"
          : undefined;
    if (problem !== undefined)
      log.warn({ component: "oauth", instance }, `the login of ${instance} cannot be used: ${problem}`);
    if (next?.loginId !== credential?.loginId) retryMs = Number.NEGATIVE_INFINITY;
    take(next);
  }

  async function readKept(): Promise<KeptCredential> {
    try {
      return await store.read(instance);
    } catch (error) {
      return { kind: "unreadable", reason: toGatewayError(error).message };
    }
  }

  async function keep(next: Credential): Promise<void> {
    try {
      await store.write(instance, serializeCredential(next));
      revision = await store.revision(instance);
    } catch (error) {
      // Used all the same: the old tokens are gone, and as long as this process lives nobody has to log in again.
      log.error({ component: "oauth", instance, err: error }, `the renewed login of ${instance} cannot be kept`);
    }
    take(next);
  }

  /** Shared by all who need it, and not ended by any of them: what the authorization server sends must be kept. */
  function renew(): Promise<Renewal> {
    if (renewing !== undefined) return renewing;
    const renewal = store.exclusively(instance, new AbortController().signal, renewOnce).finally(() => {
      renewing = undefined;
    });
    renewing = renewal;
    deps.track(renewal);
    return renewal;
  }

  async function renewOnce(): Promise<Renewal> {
    const before = credential?.tokens.access;
    await reload();
    const current = credential;
    if (current === undefined) return { kind: "ended", reason: "logged out" };
    // Another process was faster, or somebody logged in.
    if (current.tokens.access !== before) return { kind: "tokens", tokens: current.tokens, scope: current.scope };
    if (current.tokens.refresh === undefined)
      return { kind: "ended", reason: "the authorization server gave no refresh token" };
    const renewal = await askForTokens(current, current.tokens.refresh);
    if (renewal.kind === "unreachable") {
      retryMs = clock.monotonic() + renewRetryMs;
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
    renewedMs = clock.monotonic();
    await keep(
      renewal.kind === "tokens"
        ? { ...current, tokens: renewal.tokens, scope: renewal.scope }
        : { ...current, tokens: { ...current.tokens, refresh: undefined } },
    );
    return renewal;
  }

  async function askForTokens(current: Credential, refreshToken: string): Promise<Renewal> {
    try {
      const outgoing = createOutgoing(await addressRulesFor(current.serverUrl), current.serverUrl);
      return await renewTokens(current, refreshToken, outgoing, clock.now(), new AbortController().signal);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { kind: "unreachable", reason: error.message };
    }
  }

  function credentialFor(url: string): Credential | undefined {
    return credential?.serverUrl === url ? credential : undefined;
  }

  async function authorize(server: string, url: string, refresh: boolean, signal: AbortSignal) {
    if (refresh) return await authorizeAnew(server, url, signal);
    if (clock.monotonic() - checkedMs >= recheckMs) await reload();
    const current = credentialFor(url);
    if (current === undefined) {
      if (problem !== undefined) throw needsLogin(server, `the login that is kept cannot be used: ${problem}`);
      return undefined;
    }
    const age = ageOf(current, clock.now());
    if (current.tokens.refresh === undefined || age === "fresh") return header;
    if (age === "due") {
      if (clock.monotonic() >= retryMs) void renew().catch(() => undefined);
      return header;
    }
    return await renewed(server, url, signal);
  }

  /** After a 401: what somebody else has brought meanwhile, otherwise one refresh. */
  async function authorizeAnew(server: string, url: string, signal: AbortSignal) {
    const before = credential?.tokens.access;
    await reload();
    const current = credentialFor(url);
    if (current === undefined) return undefined;
    const isNews = current.tokens.access !== before || clock.monotonic() - renewedMs < justNowMs;
    if (isNews) return header;
    return current.tokens.refresh === undefined ? undefined : await renewed(server, url, signal);
  }

  async function renewed(server: string, url: string, signal: AbortSignal) {
    const renewal = await untilAborted(renew(), signal);
    switch (renewal.kind) {
      case "tokens":
        return credentialFor(url) === undefined ? undefined : header;
      case "ended":
        throw needsLogin(server, `its login has ended (${renewal.reason})`);
      case "unreachable":
        throw new GatewayError("CONNECT_FAILED", `the login at ${server} cannot be renewed now: ${renewal.reason}`);
    }
  }

  return {
    reload,
    authorize,
    credentialFor,
    get loginId() {
      return credential?.loginId;
    },
    get problem() {
      return problem;
    },
  };
}

const mostSecrets = 1_000;
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
