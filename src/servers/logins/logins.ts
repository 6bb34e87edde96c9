import type { Log } from "../../kernel/runtime/log.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { createAccount, type Account, type AccountPlace } from "./account.ts";
import type { CredentialStore } from "./credential.ts";

/** Headers for one request; with `refresh` after a 401. Undefined when there is no login that could help. */
type Authorize = (refresh: boolean, signal: AbortSignal) => Promise<Readonly<Record<string, string>> | undefined>;

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
  let secrets: ReadonlySet<string> = new Set();
  const track = (renewal: Promise<unknown>): void => {
    renewals.add(renewal);
    void renewal.finally(() => renewals.delete(renewal)).catch(() => undefined);
  };

  /** Tokens of long ago have expired: of too many the oldest are forgotten. */
  function remember(tokens: readonly string[]): void {
    if (tokens.every((token) => secrets.has(token))) return;
    secrets = new Set([...secrets, ...tokens].slice(-mostSecrets));
  }

  function accountOf(instance: string): Account {
    const known = accounts.get(instance);
    if (known !== undefined) return known;
    const account = createAccount(instance, { ...deps, track, remember });
    accounts.set(instance, account);
    return account;
  }

  return {
    async authorizeFor(instance, place) {
      const account = accountOf(instance);
      await account.reload();
      return account.credentialFor(place.url) === undefined && account.problem === undefined
        ? undefined
        : (refresh, signal) => account.authorize(place, refresh, signal);
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
    async [Symbol.asyncDispose]() {
      // A refresh that is under way has perhaps used up the old token already: what it brings must be kept.
      await Promise.allSettled(renewals);
    },
  };
}

const mostSecrets = 1_000;
