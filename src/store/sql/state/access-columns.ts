import type {
  BrowserSessionRow,
  GrantRow,
  IdentityRow,
  OAuthItemRow,
  PasswordRow,
  SetupRow,
} from "../../access-rows.ts";

/** Tables of logging in, by their columns, and how a row becomes one of theirs. */
export interface AccessTables {
  readonly password: { user_id: string; hash: string; changed_at_ms: number };
  readonly browser_session: {
    hash: string;
    user_id: string;
    role: string;
    via: string;
    sid: string;
    created_at_ms: number;
    seen_at_ms: number;
    expires_at_ms: number;
  };
  readonly setup_link: { hash: string; user_id: string | null; expires_at_ms: number };
  readonly identity: {
    issuer: string;
    subject: string;
    user_id: string | null;
    label: string;
    created_at_ms: number;
    seen_at_ms: number;
  };
  readonly seen_once: { hash: string; expires_at_ms: number };
  readonly oauth_grant: GrantColumns;
  readonly oauth_item: ItemColumns;
}

interface GrantColumns {
  id: string;
  membership_id: string;
  client_id: string;
  client_name: string;
  scopes: string;
  audience: string;
  via: string;
  sid: string;
  payload: string;
  created_at_ms: number;
  used_at_ms: number;
  expires_at_ms: number;
}

interface ItemColumns {
  kind: string;
  hash: string;
  grant_id: string | null;
  lookup: string | null;
  scopes: string | null;
  audience: string | null;
  payload: string;
  consumed_at_ms: number | null;
  uses: number;
  expires_at_ms: number;
}

export const passwordColumns = (row: PasswordRow): AccessTables["password"] => ({
  user_id: row.userId,
  hash: row.hash,
  changed_at_ms: row.changedAtMs,
});

export const sessionColumns = (row: BrowserSessionRow): AccessTables["browser_session"] => ({
  hash: row.hash,
  user_id: row.userId,
  role: row.role,
  via: row.via,
  sid: row.sid,
  created_at_ms: row.createdAtMs,
  seen_at_ms: row.seenAtMs,
  expires_at_ms: row.expiresAtMs,
});

export const setupColumns = (row: SetupRow): AccessTables["setup_link"] => ({
  hash: row.hash,
  user_id: row.userId,
  expires_at_ms: row.expiresAtMs,
});

export const identityColumns = (row: IdentityRow): AccessTables["identity"] => ({
  issuer: row.issuer,
  subject: row.subject,
  user_id: row.userId,
  label: row.label,
  created_at_ms: row.createdAtMs,
  seen_at_ms: row.seenAtMs,
});

export const grantColumns = (row: GrantRow): GrantColumns => ({
  id: row.id,
  membership_id: row.membershipId,
  client_id: row.clientId,
  client_name: row.clientName,
  scopes: row.scopes,
  audience: row.audience,
  via: row.via,
  sid: row.sid,
  payload: row.payload,
  created_at_ms: row.createdAtMs,
  used_at_ms: row.usedAtMs,
  expires_at_ms: row.expiresAtMs,
});

export const itemColumns = (row: OAuthItemRow): ItemColumns => ({
  kind: row.kind,
  hash: row.hash,
  grant_id: row.grantId,
  lookup: row.lookup,
  scopes: row.scopes,
  audience: row.audience,
  payload: row.payload,
  consumed_at_ms: row.consumedAtMs,
  uses: row.uses,
  expires_at_ms: row.expiresAtMs,
});

export const toSession = (row: AccessTables["browser_session"]): BrowserSessionRow => ({
  hash: row.hash,
  userId: row.user_id,
  role: row.role,
  via: row.via,
  sid: row.sid,
  createdAtMs: row.created_at_ms,
  seenAtMs: row.seen_at_ms,
  expiresAtMs: row.expires_at_ms,
});

export const toGrant = (row: GrantColumns): GrantRow => ({
  id: row.id,
  membershipId: row.membership_id,
  clientId: row.client_id,
  clientName: row.client_name,
  scopes: row.scopes,
  audience: row.audience,
  via: row.via,
  sid: row.sid,
  payload: row.payload,
  createdAtMs: row.created_at_ms,
  usedAtMs: row.used_at_ms,
  expiresAtMs: row.expires_at_ms,
});

export const toIdentity = (row: AccessTables["identity"]): IdentityRow => ({
  issuer: row.issuer,
  subject: row.subject,
  userId: row.user_id,
  label: row.label,
  createdAtMs: row.created_at_ms,
  seenAtMs: row.seen_at_ms,
});

export const toItem = (row: ItemColumns): OAuthItemRow => ({
  kind: row.kind,
  hash: row.hash,
  grantId: row.grant_id,
  lookup: row.lookup,
  scopes: row.scopes,
  audience: row.audience,
  payload: row.payload,
  consumedAtMs: row.consumed_at_ms,
  uses: row.uses,
  expiresAtMs: row.expires_at_ms,
});
