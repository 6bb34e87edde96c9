/**
 * How people get in, as it is kept: passwords, browser sessions, set-up links, logins elsewhere, and what the
 * authorization server gives out. Plain values only, because they travel to a worker thread as JSON. Times are wall
 * clock, in ms. Of everything that opens something only the SHA-256 is kept, as 64 lower-case hex digits.
 */

export interface PasswordRow {
  readonly userId: string;
  /** What its scrypt hash was made with, and the hash. */
  readonly hash: string;
  readonly changedAtMs: number;
}

/** Somebody who is logged in with a browser. */
export interface BrowserSessionRow {
  /** Of the cookie. */
  readonly hash: string;
  readonly userId: string;
  /** Of the user when the session began: with another role, people log in again. */
  readonly role: string;
  /** `password`, or the issuer that they logged in at. */
  readonly via: string;
  /** The issuer's own name for the session there, or an empty text. */
  readonly sid: string;
  /** When the person proved who they are: at an identity provider, that may be before the session began here. */
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  readonly expiresAtMs: number;
}

/** A link that sets a password, once. */
export interface SetupRow {
  readonly hash: string;
  /** Null for the link that makes the first admin. */
  readonly userId: string | null;
  readonly expiresAtMs: number;
}

/** A user's account at an identity provider. */
export interface IdentityRow {
  readonly issuer: string;
  readonly subject: string;
  /** Null once the user was removed, or it was taken away from them: only a link or an invitation lets it in again. */
  readonly userId: string | null;
  /** How people recognise it: an address, or a name. */
  readonly label: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
}

/** Something that may be used once: until it expires, it is known that it was. */
export interface OnceRow {
  readonly hash: string;
  readonly expiresAtMs: number;
}

/** One app of one membership: everything that was given out for one consent. */
export interface GrantRow {
  readonly id: string;
  readonly membershipId: string;
  readonly clientId: string;
  /** What the client calls itself. */
  readonly clientName: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The URL of the resource that it is for. */
  readonly audience: string;
  /** Of the browser's session in which somebody consented, as it has them. */
  readonly via: string;
  readonly sid: string;
  /** The library's own object, sealed. */
  readonly payload: string;
  readonly createdAtMs: number;
  /** The beginning of the hour in which it was last renewed. */
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

/** Something that the authorization server gave out, or waits for. */
export interface OAuthItemRow {
  readonly kind: string;
  /** Of the token, code or cookie itself. */
  readonly hash: string;
  readonly grantId: string | null;
  /** A second way to find it: what somebody types. */
  readonly lookup: string | null;
  /** Of access tokens. */
  readonly scopes: string | null;
  /** Of access tokens: the URL of the resource. */
  readonly audience: string | null;
  /** Sealed. */
  readonly payload: string;
  readonly consumedAtMs: number | null;
  /** How often it was used after it was consumed. */
  readonly uses: number;
  readonly expiresAtMs: number;
}

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
  /** Of this user: they stay known as nobody's, so that a login makes no second user of them. */
  readonly goneIdentities?: readonly Pick<IdentityRow, "issuer" | "subject" | "userId">[];
  readonly passwords?: readonly PasswordRow[];
  readonly sessions?: readonly BrowserSessionRow[];
  readonly setups?: readonly SetupRow[];
  /** That they were seen; they are made together with what belongs to their user. */
  readonly identities?: readonly IdentityRow[];
  readonly grants?: readonly GrantRow[];
  readonly items?: readonly OAuthItemRow[];
}
