import { integer, integerOrNull, table, text, textOrNull, type RowOf } from "./state-table.ts";

/**
 * How people get in, as it is kept: passwords, browser sessions, set-up links, logins elsewhere, and what the
 * authorization server gives out. Plain values only, because they travel to a worker thread as JSON. Times are wall
 * clock, in ms. Of everything that opens something only the SHA-256 is kept, as 64 lower-case hex digits.
 */
export const accessTables = {
  password: table({
    userId: text,
    /** What its scrypt hash was made with, and the hash. */
    hash: text,
    changedAtMs: integer,
  }),
  /** Somebody who is logged in with a browser. */
  browser_session: table({
    /** Of the cookie. */
    hash: text,
    userId: text,
    /** Of the user when the session began: with another role, people log in again. */
    role: text,
    /** `password`, or the issuer that they logged in at. */
    via: text,
    /** The issuer's own name for the session there, or an empty text. */
    sid: text,
    /** What it says of itself, for people: `Firefox on Linux`; empty where it says nothing that is known. */
    browser: text,
    /** When the person proved who they are: at an identity provider, that may be before the session began here. */
    createdAtMs: integer,
    seenAtMs: integer,
    expiresAtMs: integer,
  }),
  /** A link that sets a password, once. */
  setup_link: table({
    hash: text,
    /** Null for the link that makes the first admin. */
    userId: textOrNull,
    expiresAtMs: integer,
  }),
  /** A user's account at an identity provider. */
  identity: table({
    issuer: text,
    subject: text,
    /** Null once the user was removed, or lost this account: only a link or an invitation lets it in again. */
    userId: textOrNull,
    /** How people recognise it: an address, or a name. */
    label: text,
    createdAtMs: integer,
    seenAtMs: integer,
  }),
  /** Something that may be used once: until it expires, it is known that it was. */
  seen_once: table({
    hash: text,
    expiresAtMs: integer,
  }),
  /** One app of one membership: everything that was given out for one consent. */
  oauth_grant: table({
    id: text,
    membershipId: text,
    clientId: text,
    /** What the client calls itself. */
    clientName: text,
    /** Separated by spaces. */
    scopes: text,
    /** The URL of the resource that it is for. */
    audience: text,
    /** Of the browser's session in which somebody consented, as it has them. */
    via: text,
    sid: text,
    /** The library's own object, sealed. */
    payload: text,
    createdAtMs: integer,
    /** The beginning of the hour in which it was last renewed. */
    usedAtMs: integer,
    expiresAtMs: integer,
  }),
  /** Something that the authorization server gave out, or waits for. */
  oauth_item: table({
    kind: text,
    /** Of the token, code or cookie itself. */
    hash: text,
    grantId: textOrNull,
    /** A second way to find it: what somebody types. */
    lookup: textOrNull,
    /** Of access tokens. */
    scopes: textOrNull,
    /** Of access tokens: the URL of the resource. */
    audience: textOrNull,
    /** Sealed. */
    payload: text,
    consumedAtMs: integerOrNull,
    /** How often it was used after it was consumed. */
    uses: integer,
    expiresAtMs: integer,
  }),
};

type Tables = typeof accessTables;
export type PasswordRow = RowOf<Tables["password"]>;
export type BrowserSessionRow = RowOf<Tables["browser_session"]>;
export type SetupRow = RowOf<Tables["setup_link"]>;
export type IdentityRow = RowOf<Tables["identity"]>;
export type OnceRow = RowOf<Tables["seen_once"]>;
export type GrantRow = RowOf<Tables["oauth_grant"]>;
export type OAuthItemRow = RowOf<Tables["oauth_item"]>;

/** What a gateway has in memory. */
export interface AccessRows {
  readonly sessions: readonly BrowserSessionRow[];
  readonly grants: readonly GrantRow[];
  readonly tokens: readonly OAuthItemRow[];
}

/** What finds one item. */
export type ItemPlace = Pick<OAuthItemRow, "kind" | "hash">;

/** What a change of people has of this: new passwords, and a set-up link that it is done with. */
export type AccessOfPeople = Pick<AccessWrites, "passwords" | "spentSetup">;

/** One change, all of it or nothing. */
export interface AccessWrites {
  /** What it uses up: where that was done before, nothing is written. */
  readonly once?: readonly OnceRow[];
  /** The set-up link that it is done with: without it, nothing is written. */
  readonly spentSetup?: string;
  /** An item that is consumed by it. */
  readonly consumed?: ItemPlace & {
    readonly atMs: number;
    /** Nothing is written if it was consumed before. */
    readonly once: boolean;
  };
  /** Rows that are there and were used: none comes back by it that was removed meanwhile. */
  readonly seenSessions?: readonly Pick<BrowserSessionRow, "hash" | "seenAtMs">[];
  readonly usedGrants?: readonly Pick<GrantRow, "id" | "usedAtMs">[];
  /** Items that are kept until later, where they are kept at all. */
  readonly prolonged?: readonly (ItemPlace & Pick<OAuthItemRow, "expiresAtMs">)[];
  readonly goneSessions?: readonly string[];
  readonly goneGrants?: readonly string[];
  readonly goneItems?: readonly ItemPlace[];
  /** Of this user: they stay known as no one's, so that a login makes no second user of them. */
  readonly goneIdentities?: readonly Pick<IdentityRow, "issuer" | "subject" | "userId">[];
  readonly passwords?: readonly PasswordRow[];
  readonly sessions?: readonly BrowserSessionRow[];
  readonly setups?: readonly SetupRow[];
  /** That they were seen; they are made together with what belongs to their user. */
  readonly identities?: readonly IdentityRow[];
  readonly grants?: readonly GrantRow[];
  readonly items?: readonly OAuthItemRow[];
}
