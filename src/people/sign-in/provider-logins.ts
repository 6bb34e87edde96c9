import type { JWTPayload } from "jose";
import type { ProviderSettings } from "../../config/rows/provider-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { FailureCode } from "../../kernel/failures/failures.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { BrowserSessionRow } from "../../store/access-rows.ts";
import type { AccessStore } from "../../store/access-store.ts";
import { sha256, type Change, type ChangeAccess } from "../authorization-server/access-changes.ts";
import { createAttempts, sendersOf, type Attempts } from "../authorization-server/login-attempts.ts";
import type { Sealing } from "../authorization-server/oauth/sealed-rows.ts";
import type { BrowserSessions, NewSession } from "../authorization-server/user-sessions.ts";
import type { ChangeActor } from "../directory/change-queue.ts";
import type { ComingPerson, SignedIn, SignIn } from "../directory/plans/identity-plans.ts";
import type { PeopleChanges } from "../directory/people-changes.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { provenAt, toPerson } from "./claims.ts";
import { isSameIssuer } from "./linked-accounts.ts";
import { createLoginPlaces, createLoginStates, type LoginCookie, type WantedEntry } from "./login-states.ts";
import type { ProviderConnection } from "./provider-connection.ts";

/**
 * Logging in and out at identity providers. Everything rejects with ROUTE_UNKNOWN for a provider that there is not,
 * with PROVIDER_UNREACHABLE, PROVIDER_REFUSED and PROVIDER_ANSWER_INVALID, and as the store does.
 */
export interface ProviderLogins {
  /** Where the browser is sent, and the cookie that it needs when it comes back. */
  begin(provider: string, about: BeginLogin): Promise<{ readonly url: string; readonly cookie: LoginCookie }>;
  /** Rejects with LOGIN_EXPIRED, LOGIN_BUSY, IDENTITY_UNKNOWN, PEOPLE_CONFLICT and RATE_LIMITED, too. */
  finish(provider: string, about: FinishLogin): Promise<FinishedLogin>;
  /** The provider says that somebody logged out there: ends their browsers and what they gave to apps meanwhile. */
  logOut(provider: string, token: string, ip: string | null): Promise<void>;
  /** Where somebody who logged in with this issuer can log out there; undefined where there is no such place. */
  endSessionUrl(issuer: string, redirectUri: string): Promise<string | undefined>;
}

export interface BeginLogin {
  readonly redirectUri: string;
  readonly next: string;
  readonly entry: WantedEntry | undefined;
  /** Whether the browser is logged in here: then somebody wants to prove once more who they are. */
  readonly isKnown: boolean;
}

export interface FinishLogin {
  /** The address that the browser came back to, with the query. */
  readonly url: URL;
  readonly cookieOf: (name: string) => string | undefined;
  readonly ip: string | null;
  /** As the session's row has it. */
  readonly browser: string;
  /** The session that the browser had before. */
  readonly session: BrowserSessionRow | undefined;
}

export interface FinishedLogin {
  readonly session: NewSession;
  readonly next: string;
}

export interface ProviderLoginsDeps {
  readonly settings: () => Readonly<Record<string, ProviderSettings>>;
  readonly connect: (name: string, settings: ProviderSettings) => ProviderConnection;
  readonly sealing: Sealing;
  readonly store: Pick<AccessStore, "identity" | "setupLink">;
  readonly change: ChangeAccess;
  readonly sessions: BrowserSessions;
  readonly directory: Pick<TeamDirectory, "book" | "access">;
  readonly people: (by: ChangeActor) => Pick<PeopleChanges, "signIn">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Told of what was refused. */
  readonly onDenied: (change: Change) => void;
}

/** From one address, in a quarter of an hour, logins that fail through a fault of the sender. */
const mostFailures = 60;
/** The same of logout tokens that are not the provider's: a provider's own address sends none of them. */
const mostBadTokens = 60;
const windowMs = 15 * 60_000;
/** How exactly it is known when an identity was last used. */
const seenMs = 86_400_000;

export function createProviderLogins(deps: ProviderLoginsDeps): ProviderLogins {
  const { connect, clock, onDenied } = deps;
  const states = createLoginStates(deps);
  const failures = createAttempts(clock, mostFailures, windowMs);
  const badTokens = createAttempts(clock, mostBadTokens, windowMs);
  const recognize = createRecognition(deps);
  const inPlace = createLoginPlaces();

  function settingsOf(name: string): ProviderSettings {
    const all = deps.settings();
    const found = Object.hasOwn(all, name) ? all[name] : undefined;
    if (found === undefined) throw new GatewayError("ROUTE_UNKNOWN", "there is no such identity provider");
    return found;
  }

  /** What fails is in the audit. */
  async function guard<T>({ name, ip, action }: Guarded, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const detail = { provider: name, code: toGatewayError(error).code };
      onDenied({ actor: "unknown", via: "browser", action, object: name, ip, outcome: "denied", detail });
      throw error;
    }
  }

  return {
    async begin(name, { redirectUri, next, entry, isKnown }) {
      const settings = settingsOf(name);
      const { state, cookie } = states.begin({ provider: name, issuer: settings.issuer, next, entry });
      const connection = connect(name, settings);
      // A user who links an account says there who they are, once more.
      const isLinking = entry !== undefined && entry.kind !== "invite";
      const asks = isLinking ? "login" : isKnown && entry === undefined ? "again" : "strangers";
      const url = await connection.authorizationUrl({ ...state, redirectUri, asks });
      return { url: url.href, cookie };
    },
    async finish(name, { url, cookieOf, ip, browser, session }) {
      const settings = settingsOf(name);
      const from = sendersOf(ip);
      failures.check(from);
      const login = async (): Promise<FinishedLogin> => {
        const came = { provider: name, issuer: settings.issuer, state: onlyOne(url, "state"), cookieOf };
        const state = await states.use(came);
        const claims = await connect(name, settings).redeem(url, state);
        const person = toPerson(name, claims, settings);
        const { user, by } = await recognize({ person, settings, wanted: state.entry, session, ip });
        const provenAtMs = provenAt(claims, clock.now());
        const origin = { via: claims.issuer, sid: claims.sid, browser, ip, provenAtMs };
        // An invitation that made somebody known was accepted by that; anybody else is asked on its page.
        const next = state.entry?.kind === "invite" && by === "entry" ? "/connect" : state.next;
        return { session: await deps.sessions.start(user, origin, session?.hash), next };
      };
      const counted = async (): Promise<FinishedLogin> => await counting(login, failures, from);
      // Before the state is used: a browser that finds no place may send the same answer again.
      return await inPlace(name, async () => await guard({ name, ip, action: "login" }, counted));
    },
    async logOut(name, token, ip) {
      const settings = settingsOf(name);
      const from = sendersOf(ip);
      badTokens.check(from);
      const verify = async (): Promise<LogoutRequest> => toLogoutRequest(await connect(name, settings).verify(token));
      await guard({ name, ip, action: "logout.provider" }, async () => {
        // A good token counts for nothing, also when the provider sends it twice.
        const asked = await counting(verify, badTokens, from, "PROVIDER_ANSWER_INVALID");
        await endAt(asked, { ...deps, name, ip });
      });
    },
    async endSessionUrl(issuer, redirectUri) {
      const found = Object.entries(deps.settings()).find(([, one]) => isSameIssuer(one.issuer, issuer));
      if (found === undefined) return undefined;
      return (await connect(...found).endSessionUrl(redirectUri))?.href;
    },
  };
}

interface Guarded {
  readonly name: string;
  readonly ip: string | null;
  readonly action: string;
}

/**
 * Counts a failure where it is the fault of the sender of the request: not one of the provider, nor a login that took
 * too long or came back to another browser, as happens to many people behind one address.
 */
async function counting<T>(
  run: () => Promise<T>,
  attempts: Attempts,
  from: readonly string[],
  also?: FailureCode,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { code, row } = toGatewayError(error);
    if ((row.http < 500 && code !== "LOGIN_EXPIRED") || code === also) attempts.count(from);
    throw error;
  }
}

interface Recognized {
  readonly person: ComingPerson;
  readonly settings: ProviderSettings;
  readonly wanted: WantedEntry | undefined;
  readonly session: BrowserSessionRow | undefined;
  readonly ip: string | null;
}

/** Who somebody is here, one after the other: two first logins of one account make one user. */
function createRecognition({ store, change, people, clock }: ProviderLoginsDeps) {
  let last: Promise<unknown> = Promise.resolve();

  async function entryOf({ wanted, session }: Recognized): Promise<Pick<SignIn, "entry" | "spentSetup">> {
    if (wanted === undefined || wanted.kind === "invite") return { entry: wanted };
    if (wanted.kind === "user") {
      if (session?.hash !== wanted.session) throw late("you are not logged in any more as you were when this began");
      return { entry: { kind: "user", userId: session.userId } };
    }
    const link = await store.setupLink(wanted.code);
    if (link === undefined || link.expiresAtMs <= clock.now()) throw late("this link is too old, or was used before");
    const { hash: spentSetup, userId } = link;
    if (userId !== null) return { entry: { kind: "user", userId }, spentSetup };
    return { entry: { kind: "setup", name: wanted.name, team: wanted.team }, spentSetup };
  }

  async function recognize(given: Recognized): Promise<SignedIn> {
    const { person, settings: rules, ip } = given;
    const known = await store.identity(person);
    const came = await entryOf(given);
    const by: ChangeActor = { id: person.label, via: "browser", ip, user: null, isAdmin: false };
    const signedIn = await people(by).signIn({ person, rules, known, ...came });
    const now = clock.now();
    if (known !== undefined && known.userId !== null && known.seenAtMs + seenMs < now)
      await change({ identities: [{ ...known, label: person.label, seenAtMs: now }] });
    return signedIn;
  }

  return async (given: Recognized): Promise<SignedIn> => {
    const mine = last.then(async () => await recognize(given));
    last = mine.catch(() => undefined);
    return await mine;
  };
}

interface Ending extends Pick<ProviderLoginsDeps, "store" | "change" | "directory"> {
  readonly name: string;
  readonly ip: string | null;
}

/** Ends what began with a session at the provider, or all that somebody began there. */
async function endAt(asked: LogoutRequest, { store, change, directory, name, ip }: Ending): Promise<void> {
  const { issuer, sid, subject, id, expiresAtMs } = asked;
  const { book, access } = directory;
  const identity = subject === undefined ? undefined : await store.identity({ issuer, subject });
  const userId = identity?.userId ?? undefined;
  // A provider may name its sessions in one place and not in the other.
  const isMeant = (row: { readonly via: string; readonly sid: string }, owner: string | undefined): boolean => {
    if (row.via !== issuer) return false;
    const isOwn = userId !== undefined && owner === userId;
    return sid === undefined ? isOwn : row.sid === sid || (row.sid === "" && isOwn);
  };
  const sessions = [...access.sessions.values()].filter((row) => isMeant(row, row.userId));
  const grants = [...access.grants.values()].filter((row) => isMeant(row, book.members.get(row.membershipId)?.user.id));
  const detail = { provider: name, sessions: sessions.length, apps: grants.length };
  const once = [{ hash: sha256(`logout ${issuer} ${id}`), expiresAtMs: expiresAtMs + spareMs }];
  const writes = {
    once,
    goneSessions: sessions.map(({ hash }) => hash),
    goneGrants: grants.map(({ id }) => id),
  };
  const object = book.users.get(userId ?? sessions[0]?.userId ?? "")?.name ?? "";
  const isFirst = await change(writes, { actor: name, via: "provider", action: "logout.provider", object, ip, detail });
  if (!isFirst) throw new GatewayError("PROVIDER_ANSWER_INVALID", "this logout token was used before");
}

/** A token is taken a little longer than it is valid, because clocks differ. */
const spareMs = 120_000;

function late(message: string): GatewayError {
  return new GatewayError("LOGIN_EXPIRED", message);
}

/** A parameter that occurs once. */
function onlyOne(url: URL, name: string): string | null {
  const all = url.searchParams.getAll(name);
  return all.length === 1 ? (all[0] ?? null) : null;
}

/** Who is to be logged out. */
interface LogoutRequest {
  readonly issuer: string;
  /** One session at the provider; undefined for all of the person. */
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  /** The token's own name: it counts once. */
  readonly id: string;
  readonly expiresAtMs: number;
}

const event = "http://schemas.openid.net/event/backchannel-logout";

/**
 * What a logout token asks for (OpenID Connect Back-Channel Logout 1.0, section 2.6). Signature, issuer, audience and
 * times have been checked. Throws PROVIDER_ANSWER_INVALID.
 */
function toLogoutRequest(claims: JWTPayload): LogoutRequest {
  const { iss, sub, jti, exp, sid, events, nonce } = claims;
  const isEvent = typeof events === "object" && events !== null && isObject((events as Record<string, unknown>)[event]);
  if (!isEvent) throw refuse("it is not the event of a logout");
  // With one it would be an ID token, which anybody may have who logged somebody in.
  if (nonce !== undefined) throw refuse("it has a nonce");
  const session = typeof sid === "string" && sid !== "" ? sid : undefined;
  const subject = typeof sub === "string" && sub !== "" ? sub : undefined;
  if (session === undefined && subject === undefined) throw refuse("it names neither a person nor a session");
  if (iss === undefined || typeof jti !== "string" || jti === "" || exp === undefined)
    throw refuse("iss, jti or exp is missing");
  return { issuer: iss, sid: session, subject, id: jti, expiresAtMs: exp * 1_000 };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(why: string): GatewayError {
  return new GatewayError("PROVIDER_ANSWER_INVALID", `the logout token cannot be trusted: ${why}`);
}
