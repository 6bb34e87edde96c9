import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { sha256, type ChangeAccess } from "../authorization-server/access-changes.ts";
import type { Sealing } from "../authorization-server/oauth/sealed-rows.ts";
import type { LoginChecks } from "./provider-connection.ts";

/** Remembered of a login while its person is at the provider. */
export interface LoginState extends LoginChecks {
  /** The provider's name and issuer in the settings: an answer of another one is none to this. */
  readonly provider: string;
  readonly issuer: string;
  /** Where the browser goes afterwards. */
  readonly next: string;
  readonly entry: WantedEntry | undefined;
  readonly untilMs: number;
}

/** By what somebody wants to come in who is not known yet. */
export type WantedEntry =
  /** The user who is logged in with this session. */
  | { readonly kind: "user"; readonly session: string }
  | { readonly kind: "invite"; readonly secret: string }
  /** `code` is the hash of a link's code; name and team are those of the first admin. */
  | { readonly kind: "setup"; readonly code: string; readonly name: string; readonly team: string };

export interface LoginStates {
  /** The cookie that the browser keeps meanwhile. */
  begin(about: Pick<LoginState, "provider" | "issuer" | "next" | "entry">): BegunLogin;
  /** Reads it once. Rejects with LOGIN_EXPIRED, and as the store does. */
  use(given: CameBack): Promise<LoginState>;
}

export interface BegunLogin {
  readonly state: LoginState;
  readonly cookie: LoginCookie;
}

export interface LoginCookie {
  /** Of its own for each login, so that a browser may have several at once. */
  readonly name: string;
  readonly value: string;
  readonly maxAgeS: number;
}

export interface CameBack {
  readonly provider: string;
  readonly issuer: string;
  readonly state: string | null;
  readonly cookieOf: (name: string) => string | undefined;
}

export interface LoginStatesDeps {
  readonly sealing: Sealing;
  readonly change: ChangeAccess;
  readonly clock: Pick<Clock, "now">;
}

/** As long as people look for their second factor. */
const loginS = 600;
const stateForm = /^[\w-]{43}$/;

/**
 * Logins that have begun are in the browser's cookie, sealed: a request for one costs no row. A used one is remembered
 * until the cookie would be too old.
 */
export function createLoginStates({ sealing, change, clock }: LoginStatesDeps): LoginStates {
  const random = (): string => randomBytes(32).toString("base64url");
  const placeOf = (provider: string, state: string): string => `login ${provider} ${state}`;

  return {
    begin(about) {
      const untilMs = clock.now() + loginS * 1_000;
      const state = { ...about, state: random(), nonce: random(), verifier: random(), untilMs };
      const value = sealing.seal(JSON.stringify(state), placeOf(about.provider, state.state));
      return { state, cookie: { name: loginCookieName(state.state), value, maxAgeS: loginS } };
    },
    async use({ provider, issuer, state: given, cookieOf }) {
      const late = new GatewayError(
        "LOGIN_EXPIRED",
        "this login is too old, was used, or was begun in another browser",
      );
      if (given === null || !stateForm.test(given)) throw late;
      const sealed = cookieOf(loginCookieName(given));
      const open = sealed === undefined ? undefined : sealing.open(sealed, placeOf(provider, given));
      if (open === undefined) throw late;
      const state = JSON.parse(open) as LoginState;
      if (state.state !== given || state.issuer !== issuer || state.untilMs <= clock.now()) throw late;
      const once = [{ hash: sha256(`login ${given}`), expiresAtMs: state.untilMs }];
      if (!(await change({ once }))) throw late;
      return state;
    },
  };
}

/** Without its prefix for https. */
export function loginCookieName(state: string): string {
  return `ty_login_${sha256(state).slice(0, 12)}`;
}

/**
 * Logins that come back from one provider at once: each asks the database, waits for the provider, and then for those
 * before it. Half of what the database's queue takes, so that other changes find room there; with a provider that takes
 * a second, 32 people log in each second. Counted per provider, so that one that hangs does not block the others.
 */
const mostComingBack = 32;
const retryS = 10;

/** Runs `login` where the provider has a place left; rejects with LOGIN_BUSY before it has done anything where not. */
export type InLoginPlace = <T>(provider: string, login: () => Promise<T>) => Promise<T>;

export function createLoginPlaces(): InLoginPlace {
  const taken = new Map<string, number>();

  return async (provider, login) => {
    const before = taken.get(provider) ?? 0;
    if (before >= mostComingBack)
      throw new GatewayError("LOGIN_BUSY", `${before} people come back from ${provider} at this moment`, {
        data: { retry_after_s: retryS },
      });
    taken.set(provider, before + 1);
    try {
      return await login();
    } finally {
      const left = (taken.get(provider) ?? 1) - 1;
      if (left === 0) taken.delete(provider);
      else taken.set(provider, left);
    }
  };
}
