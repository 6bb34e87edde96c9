import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { AccessRows, AccessWrites } from "../../store/access-rows.ts";
import type { PatRow, PatUse, PeopleWrites } from "../../store/people-rows.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import { createAccessIndex, type AccessIndex } from "./books/access-index.ts";
import type { DatabaseContact } from "./database-contact.ts";
import type { Directory } from "./directory.ts";
import { createExpiryAlarm } from "./credential-expiry.ts";
import { createExternalTokens, type ExternalTokens, type ExternalTokensDeps } from "./external-tokens.ts";
import type { CredentialFacts } from "./books/member.ts";
import { createMemberIndex, type MemberIndex } from "./books/member-index.ts";

/** The people of the database, and beside them those of the configuration. */
export interface TeamDirectory extends Directory {
  readonly book: Omit<MemberIndex, "apply" | "withdraw">;
  /** Rows of the database as they are now. Rights that they take away have ended when this returns. */
  apply(writes: PeopleWrites): void;
  /** Ends a credential that is no row of the book: everything that was opened with it has ended when this returns. */
  withdraw(membershipId: string, key: string): void;
  /** Apps and browsers that people are logged in with. */
  readonly access: Omit<AccessIndex, "apply" | "forgetExpired" | "ends" | "nextExpiryMs">;
  /** Their rows in the database as they are now. Rights that they take away have ended when this returns. */
  applyAccess(writes: AccessWrites | AccessRows): void;
  /** Tells everybody who follows people: all, or none, may be current again. */
  tell(): void;
  /** Tokens that were used for the first time in an hour, since the last call. */
  takeUses(): readonly PatUse[];
  stop(): void;
}

export interface TeamDirectoryOptions {
  /** People of the configuration: their tokens work as they do without a database. */
  readonly beside: Directory;
  /** What teams of the configuration set for servers, for teams of the database with the same name. */
  readonly config: () => Pick<Config, "people">;
  readonly clock: Clock;
  /** Whether the database is there to say who was taken away. Always, where this gateway is its only writer. */
  readonly contact?: Pick<DatabaseContact, "isCut" | "refusal"> | undefined;
  /**
   * Finds a token of an app that another gateway of the same database gave out a moment ago; undefined for a hash of no
   * token. Absent where there is no other gateway.
   */
  readonly fetchToken?: ((hash: string) => Promise<AccessWrites | undefined>) | undefined;
  /** Checks tokens of another authorization server, where there is one. */
  readonly foreign?: ExternalTokensDeps["check"] | undefined;
}

const hourMs = 3_600_000;

export function createTeamDirectory(options: TeamDirectoryOptions): TeamDirectory {
  const { beside, config, clock, fetchToken, foreign, contact = { isCut: false, refusal: () => undefined } } = options;
  const book = createMemberIndex();
  const access = createAccessIndex(book);
  const changes = createBell();
  const expiries = createBell();
  const uses = createTokenUses(book);
  const alarm = createExpiryAlarm(clock, endExpired);
  const doorDeps = { book, clock, onToken: alarm.expect, onTaken: changes.ring };
  const door = foreign === undefined ? undefined : createExternalTokens({ ...doorDeps, check: foreign });

  function apply(writes: PeopleWrites): void {
    for (const { expiresAtMs } of writes.pats ?? []) alarm.expect(expiresAtMs);
    if (book.apply(writes)) changes.ring();
  }

  const byId = createByIdOf(book, beside);

  function applyAccess(writes: AccessWrites | AccessRows): void {
    for (const atMs of expiriesOf(writes)) alarm.expect(atMs);
    if (access.apply(writes)) changes.ring();
  }

  async function findElsewhere(hash: string): Promise<Principal | undefined> {
    applyAccess((await fetchToken?.(hash)) ?? {});
    return access.byToken(hash, clock.now());
  }

  function endExpired(): number {
    const { isTaken, isOver, nextMs } = expire({ book, access, door }, clock.now());
    if (isTaken) changes.ring();
    if (isOver) expiries.ring();
    return nextMs;
  }

  return {
    book,
    access,
    open: false,
    refusal: contact.refusal,
    byToken(hash) {
      if (contact.isCut) return besideAlone(contact, beside.byToken(hash));
      const pat = book.patWith(hash);
      const now = clock.now();
      if (pat === undefined) return access.byToken(hash, now) ?? door?.byToken(hash, now) ?? beside.byToken(hash);
      if (pat.expiresAtMs <= now) return undefined;
      uses.note(pat, now);
      return book.members.get(pat.membershipId)?.credentials.get(pat.id) ?? book.under(pat.membershipId, toFacts(pat));
    },
    byId,
    elsewhere: fetchToken && { byToken: findElsewhere, byId: async (id) => byId(id) },
    bySession: (hash, team) =>
      contact.isCut ? besideAlone(contact, undefined) : access.bySession(hash, team, clock.now()),
    isCurrent(principal) {
      if (book.members.has(principal.id)) return !contact.isCut && book.isCurrent(principal);
      return principal !== localPrincipal && beside.isCurrent(principal);
    },
    foreign: door?.find,
    isOver: (principal) => [access.ends, door].some((one) => one?.isOver(principal, clock.now()) === true),
    onExpiry: expiries.listen,
    ...createMemberFacts({ beside, config }, book),
    secrets: beside.secrets,
    onChange: changes.listen,
    apply,
    withdraw(membershipId, key) {
      if (book.withdraw(membershipId, key)) changes.ring();
    },
    applyAccess,
    tell: changes.ring,
    takeUses: uses.take,
    stop: alarm.stop,
  };
}

type MemberFacts = Pick<Directory, "credentialsOf" | "tiesOf" | "valuesFor">;

/** What a person has, in the database or beside it. */
function createMemberFacts(
  { beside, config }: Pick<TeamDirectoryOptions, "beside" | "config">,
  book: MemberIndex,
): MemberFacts {
  return {
    credentialsOf(id) {
      const member = book.members.get(id);
      return member === undefined ? beside.credentialsOf(id) : [id, ...book.patsOf(id).map(({ hash }) => hash)];
    },
    // The calls of a token end with it, and its person's processes when no credential of theirs is left.
    tiesOf(id) {
      const member = book.members.get(id);
      if (member === undefined) return beside.credentialsOf(id);
      return [`${id} ${member.emptied}`];
    },
    valuesFor(id, slug) {
      const member = book.members.get(id);
      if (member === undefined) return { ...beside.valuesFor(id, slug), isOnlyUser: false };
      return { team: config().people.teams.get(member.team.slug)?.get(slug), user: undefined, isOnlyUser: false };
    },
  };
}

/** Of those who are in the database, it is not known whether they still are. Throws DATABASE_SILENT. */
function besideAlone(
  { refusal }: Pick<DatabaseContact, "refusal">,
  found: Principal | undefined,
): Principal | undefined {
  const failure = refusal();
  if (found === undefined && failure !== undefined) throw failure;
  return found;
}

function createByIdOf(book: MemberIndex, beside: Directory): Directory["byId"] {
  return (id) => {
    const member = book.members.get(id);
    if (member !== undefined) return member.principal;
    const found = beside.byId(id);
    // Without a token of its own, `local` is everybody who reaches the gateway: here, it is no one.
    return found === localPrincipal ? undefined : found;
  };
}

interface Expiring {
  readonly book: MemberIndex;
  readonly access: AccessIndex;
  readonly door: ExternalTokens | undefined;
}

/** Walks over all credentials. Those that expired stay in the database, and take what they opened along. */
function expire({ book, access, door }: Expiring, nowMs: number) {
  const expired = [...book.pats.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  const isTaken = [book.apply({ gonePats: expired.map(({ id }) => id) }), access.forgetExpired(nowMs)];
  const isOver = [access.ends.forget(nowMs), door?.forget(nowMs)];
  let nextMs = Math.min(access.nextExpiryMs(), door?.nextExpiryMs() ?? Number.POSITIVE_INFINITY);
  for (const { expiresAtMs } of book.pats.values()) nextMs = Math.min(nextMs, expiresAtMs);
  return { isTaken: isTaken.includes(true), isOver: isOver.includes(true), nextMs };
}

function createBell() {
  const listeners = new Set<() => void>();
  return {
    ring(): void {
      for (const listener of listeners) listener();
    },
    listen(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** When the written credentials end, as far as something is opened with them. */
function expiriesOf(writes: Partial<AccessWrites & AccessRows>): readonly number[] {
  const { grants = [], sessions = [], items = [], tokens = [] } = writes;
  const opening = [...items, ...tokens].filter(({ kind }) => kind === "AccessToken");
  return [...grants, ...sessions, ...opening].map(({ expiresAtMs }) => expiresAtMs);
}

function toFacts({ id, scopes, only, profile }: PatRow): CredentialFacts {
  const limits = { ...(only === null ? {} : { only }), ...(profile === undefined ? {} : { profile }) };
  return { key: id, via: "pat", scopes, ...limits };
}

/** In which hour tokens were last used. */
function createTokenUses(book: MemberIndex) {
  /** At most one for each token. */
  const uses = new Map<string, number>();
  return {
    note({ id, usedAtMs }: PatRow, now: number): void {
      const hour = now - (now % hourMs);
      if (usedAtMs === hour) return;
      book.noteUse(id, hour);
      uses.set(id, hour);
    },
    take(): readonly PatUse[] {
      const taken = [...uses].map(([id, usedAtMs]) => ({ id, usedAtMs }));
      uses.clear();
      return taken;
    },
  };
}
