import type {
  AccessRows,
  AccessWrites,
  GrantRow,
  IdentityRow,
  OAuthItemRow,
  PasswordRow,
  SetupRow,
} from "./access-rows.ts";
import type { PeopleWrites } from "./people-rows.ts";
import type { AuditEntry } from "./record-rows.ts";

/** A part of a list of items. */
export interface ItemsPage {
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: Pick<OAuthItemRow, "hash" | "expiresAtMs"> | undefined;
}

/** How people get in, kept. Rejects as the store of people does. */
export interface AccessStore {
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
   * Calls `listener` with what other gateways of the same database changed, without what is only read from there, and
   * with undefined where everything has to be read again. Returns the function that unsubscribes.
   */
  onChange(listener: (writes: AccessWrites | undefined) => void): () => void;
  grant(id: string): Promise<GrantRow | undefined>;
  item(kind: string, hash: string): Promise<OAuthItemRow | undefined>;
  /** A page of those of a kind that have not expired, those that are kept longest first. */
  itemsOf(kind: string, nowMs: number, page: ItemsPage): Promise<readonly OAuthItemRow[]>;
  itemByLookup(kind: string, lookup: string): Promise<OAuthItemRow | undefined>;
  password(userId: string): Promise<PasswordRow | undefined>;
  setup(hash: string): Promise<SetupRow | undefined>;
  identity(place: Pick<IdentityRow, "issuer" | "subject">): Promise<IdentityRow | undefined>;
  /** A user's, the oldest first. */
  identitiesOf(userId: string): Promise<readonly IdentityRow[]>;
  /** Removes what expired, and of apps that registered and never came back the oldest where there are very many. */
  purge(nowMs: number): Promise<void>;
}
