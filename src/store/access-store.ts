import type {
  AccessRows,
  AccessWrites,
  GrantRow,
  IdentityRow,
  OAuthItemRow,
  PasswordRow,
  SetupRow,
} from "./access-rows.ts";
import { question, type Asked } from "./question.ts";
import type { PeopleWrites } from "./people-rows.ts";
import { attemptQuestions } from "./shared.ts";
import type { AuditEntry } from "./record-rows.ts";

/** A part of a list of items. */
export interface ItemsPage {
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: Pick<OAuthItemRow, "hash" | "expiresAtMs"> | undefined;
}

/** One item: by the hash of what it is, or by what somebody types. */
export interface ItemQuestion {
  readonly kind: string;
  readonly hash?: string;
  readonly lookup?: string;
}

export interface ItemsQuestion extends ItemsPage {
  readonly kind: string;
  readonly nowMs: number;
}

/**
 * Questions for data that is only read from the database when it is needed: each is a method of the store, by its name.
 */
export const accessQuestions = {
  /** By its id. */
  grant: question<string, GrantRow | undefined>(),
  oauthItem: question<ItemQuestion, OAuthItemRow | undefined>(),
  /** A page of those of a kind that have not expired, those that are kept longest first. */
  oauthItems: question<ItemsQuestion, readonly OAuthItemRow[]>(),
  /** Of a user, by its id. */
  password: question<string, PasswordRow | undefined>(),
  /** By its hash. */
  setupLink: question<string, SetupRow | undefined>(),
  identity: question<Pick<IdentityRow, "issuer" | "subject">, IdentityRow | undefined>(),
  /** Of a user, by its id, the oldest first. */
  identities: question<string, readonly IdentityRow[]>(),
  /**
   * Removes what has expired at that time, and of apps that registered and never came back the oldest where there are
   * very many.
   */
  purgeAccess: question<number, void>(),
};

/** How people get in, kept. Rejects as the store of people does. */
export interface AccessStore extends Asked<typeof accessQuestions & typeof attemptQuestions> {
  /** 32 bytes that are not in the database: payloads are sealed with keys made from it. */
  readonly key: Uint8Array;
  /** Whether other gateways write to the same database. */
  readonly isShared: boolean;
  /** What has not expired of everything that requests are checked against. */
  read(nowMs: number): Promise<AccessRows>;
  /**
   * Resolves to true when the change, what of people belongs to it, and the entries in the audit are on the disk; to
   * false, with nothing changed, when a link or code that it depends on was used before.
   */
  change(writes: AccessWrites, entries: readonly AuditEntry[], people?: PeopleWrites): Promise<boolean>;
  /**
   * Calls `listener` with the changes of other gateways of the same database, without rows that are only read from
   * there, and with undefined where everything has to be read again. Returns the function that unsubscribes.
   */
  onChange(listener: (writes: AccessWrites | undefined) => void): () => void;
}
