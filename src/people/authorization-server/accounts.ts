import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { BrowserSessionRow } from "../../store/access-rows.ts";
import type { PeopleWrites, UserRow } from "../../store/people-rows.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { createSecret, sha256, type Change, type ChangeAccess } from "./access-changes.ts";
import { createLimits, sendersOf, type LimitsDeps } from "./login-attempts.ts";
import type { BrowserSessions, NewSession, SessionOrigin } from "./user-sessions.ts";
import { longestPassword, shortestPassword, type Passwords } from "./passwords.ts";

/** Users with a password of this gateway's own. Everything rejects with RATE_LIMITED, and as the store does. */
export interface Accounts {
  /** Rejects with UNAUTHORIZED, whose text is always the same. */
  login(given: Login): Promise<NewSession>;
  /** Sets a password with a link's code. Without a user in the link, makes the first admin. */
  setUp(given: SetUp): Promise<NewSession>;
  /** Every other session of the user ends. */
  changePassword(session: BrowserSessionRow, given: PasswordChange): Promise<NewSession>;
  /** A user with a password says it again. Rejects with UNAUTHORIZED. */
  confirm(session: BrowserSessionRow, given: Pick<PasswordChange, "old" | "ip">): Promise<void>;
  hasPassword(userId: string): Promise<boolean>;
  /** A link that sets the password of a user, or makes the first admin. Rejects with PEOPLE_CONFLICT. */
  createLink(name: string | undefined, by: string): Promise<SetupCode>;
}

interface FromBrowser extends Pick<SessionOrigin, "ip" | "browser"> {
  /** The session that the browser had before. */
  readonly replaced: string | undefined;
}

export interface Login extends FromBrowser {
  readonly name: string;
  readonly password: string;
}

export interface SetUp extends FromBrowser {
  readonly code: string;
  /** Of the first admin. */
  readonly name: string;
  /** The first team, in which the first admin is. */
  readonly team: string;
  readonly password: string;
}

export interface PasswordChange extends Pick<FromBrowser, "ip" | "browser"> {
  readonly old: string;
  readonly password: string;
}

/** The code after the `#` of a link. */
export interface SetupCode {
  readonly code: string;
  readonly expiresAtMs: number;
}

export interface AccountsDeps {
  readonly directory: Pick<TeamDirectory, "book">;
  readonly store: Pick<AccessStore, "password" | "setupLink" | keyof LimitsDeps["store"]>;
  readonly change: ChangeAccess;
  readonly sessions: BrowserSessions;
  readonly passwords: Passwords;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Whether a text can be the name of a user or a team. */
  readonly isName: (text: string) => boolean;
  /** Told of what was refused. */
  readonly onDenied: (change: Change) => void;
}

const linkMs = 3_600_000;
const windowMs = 15 * 60_000;
/** Wrong passwords for one name, or from one address, in that time. */
const mostForName = 10;
const mostFromAddress = 50;

export function createAccounts(deps: AccountsDeps): Accounts {
  const { directory, store, change, sessions, passwords, clock } = deps;
  const { book } = directory;
  const { begin, succeed, refuse } = createLoginLimits(deps);

  /** Resolves to the user with this password, and to undefined for a user without one. */
  async function check(session: BrowserSessionRow, old: string, ip: string | null): Promise<UserRow | undefined> {
    const user = book.users.get(session.userId);
    const name = user?.name ?? "";
    await begin("password", name, ip);
    const kept = await store.password(session.userId);
    if (user !== undefined && kept === undefined) return undefined;
    const isRight = await passwords.isRight(old.slice(0, longestPassword), kept?.hash);
    if (!isRight || user === undefined) throw refuse({ action: "password", name, ip });
    succeed("password", name);
    return user;
  }

  return {
    confirm: async (session, { old, ip }) => void (await check(session, old, ip)),
    hasPassword: async (userId) => (await store.password(userId)) !== undefined,
    async login({ name, password, ip, browser, replaced }) {
      await begin("login", name, ip);
      const user = book.userNamed(name);
      const isKnown = user?.status === "active" && password.length <= longestPassword;
      const kept = isKnown ? await store.password(user.id) : undefined;
      const isRight = await passwords.isRight(password.slice(0, longestPassword), kept?.hash);
      if (!isRight || user === undefined || book.users.get(user.id)?.status !== "active")
        throw refuse({ action: "login", name, ip });
      succeed("login", name);
      return await sessions.start(user, { via: "password", sid: "", browser, ip }, replaced);
    },
    async setUp(given) {
      const { ip, browser, code, replaced } = given;
      checkPassword(given.password);
      await begin("setup", ip ?? "", ip);
      const link = await store.setupLink(sha256(code));
      if (link === undefined || link.expiresAtMs <= clock.now()) throw refuse({ action: "setup", name: "", ip });
      const known = link.userId === null ? undefined : book.users.get(link.userId);
      const { user, people } = known === undefined ? firstAdmin(deps, given) : { user: known, people: {} };
      const row = { userId: user.id, hash: await passwords.hash(given.password), changedAtMs: clock.now() };
      const goneSessions = sessions.of(user.id).map(({ hash }) => hash);
      const isDone = await change(
        { spentSetup: link.hash, passwords: [row], goneSessions },
        { actor: user.name, via: "browser", action: "password.set", object: user.name, ip },
        people,
      );
      if (!isDone) throw refuse({ action: "setup", name: "", ip });
      succeed("setup", ip ?? "");
      return await sessions.start(user, { via: "password", sid: "", browser, ip }, replaced);
    },
    async changePassword(session, { old, password, ip, browser }) {
      checkPassword(password);
      const user = await check(session, old, ip);
      if (user === undefined) throw refuse({ action: "password", name: "", ip });
      const row = { userId: user.id, hash: await passwords.hash(password), changedAtMs: clock.now() };
      await change(
        { passwords: [row], goneSessions: sessions.of(user.id).map(({ hash }) => hash) },
        { actor: user.name, via: "browser", action: "password.change", object: user.name, ip },
      );
      return await sessions.start(user, { via: session.via, sid: session.sid, browser, ip }, undefined);
    },
    createLink: createLinkMaker(deps),
  };
}

/** So many tries, and the refusal of one that fails. */
function createLoginLimits({ clock, store, onDenied }: Pick<AccountsDeps, "clock" | "store" | "onDenied">) {
  const limits = createLimits({ clock, store }, "login", windowMs);

  function refuse(about: { readonly action: string; readonly name: string; readonly ip: string | null }): GatewayError {
    const { action, name, ip } = about;
    onDenied({ actor: "unknown", via: "browser", action, object: name.slice(0, 100), ip, outcome: "denied" });
    return new GatewayError("UNAUTHORIZED", action === "setup" ? wrongCode : wrongLogin, { hint: "" });
  }

  /** Counted before it is known what comes of it: many at once are as many as one after the other. */
  async function begin(action: string, name: string, ip: string | null): Promise<void> {
    const key = `${action} ${name.slice(0, 100)}`;
    const senders = sendersOf(ip).map((sender) => ({ key: sender, most: mostFromAddress }));
    await limits.take([{ key, most: mostForName }, ...senders]);
  }

  function succeed(action: string, name: string): void {
    limits.forget(`${action} ${name.slice(0, 100)}`);
  }

  return { begin, succeed, refuse };
}

function firstAdmin(
  { directory: { book }, clock, isName }: AccountsDeps,
  { name, team }: SetUp,
): { readonly user: UserRow; readonly people: PeopleWrites } {
  if (book.users.size > 0) throw new GatewayError("PEOPLE_CONFLICT", "there is an admin already", { hint: "" });
  for (const text of [name, team])
    if (!isName(text))
      throw new GatewayError("REQUEST_INVALID", "a name has small letters, digits and hyphens, and at most 40 of them");
  const createdAtMs = clock.now();
  const user: UserRow = { id: randomId("u_"), name, role: "admin", status: "active", createdAtMs, revision: 1 };
  const row = { id: randomId("t_"), slug: team, title: "", limits: {}, createdAtMs, revision: 1 };
  const ids = { id: randomId("m_"), teamId: row.id, userId: user.id };
  const member = { ...ids, role: "owner" as const, createdAtMs, revision: 1 };
  return { user, people: { users: [user], teams: [row], memberships: [member] } };
}

function createLinkMaker({ directory: { book }, change, clock }: AccountsDeps): Accounts["createLink"] {
  return async (name, by) => {
    const user = name === undefined ? undefined : book.userNamed(name);
    if (name !== undefined && user === undefined)
      throw new GatewayError("PERSON_UNKNOWN", `there is no user ${JSON.stringify(name.slice(0, 100))}`);
    if (name === undefined && book.users.size > 0)
      throw new GatewayError("PEOPLE_CONFLICT", "there is an admin already", {
        hint: "Say whose password it is for: `toolyard user reset NAME`.",
      });
    const { value, hash } = createSecret();
    const expiresAtMs = clock.now() + linkMs;
    await change(
      { setups: [{ hash, userId: user?.id ?? null, expiresAtMs }] },
      { actor: by, via: by, action: "setup.link", object: name ?? "", ip: null },
    );
    return { code: value, expiresAtMs };
  };
}

const wrongLogin = "the name or the password is wrong";
const wrongCode = "this code is wrong, too old, or was used before";

/** Throws REQUEST_INVALID. */
export function checkPassword(password: string): void {
  if (password.length < shortestPassword || Buffer.byteLength(password) > longestPassword)
    throw new GatewayError("REQUEST_INVALID", `a password has ${shortestPassword} characters at least`, { hint: "" });
}
