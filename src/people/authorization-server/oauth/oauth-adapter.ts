import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { AccessStore } from "../../../store/access-store.ts";
import type { AccessWrites, BrowserSessionRow, GrantRow, OAuthItemRow } from "../../../store/access-rows.ts";
import type { TeamDirectory } from "../../directory/team-directory.ts";
import { sha256, type ChangeAccess } from "../access-changes.ts";
import type { LibraryAdapter, LibraryClient, Payload } from "./library.ts";
import type { Sealing } from "./sealed-rows.ts";

/** A consent that is being written: what the library does not know of it. */
export interface ConsentFacts {
  readonly actor: string;
  readonly team: string;
  readonly clientName: string;
  readonly ip: string | null;
  /** The session of the browser, by where it was logged in. */
  readonly session: Pick<BrowserSessionRow, "via" | "sid">;
  /** Given where no one was asked in a browser. */
  readonly via?: "jwt";
}

export interface OAuthAdapterDeps {
  readonly store: Pick<AccessStore, "isShared" | "grant" | "oauthItem" | "purgeAccess">;
  readonly change: ChangeAccess;
  readonly directory: Pick<TeamDirectory, "access" | "applyAccess" | "book">;
  readonly sealing: Sealing;
  readonly clock: Pick<Clock, "now">;
  /** How long a refresh token that was used once may be used again, by clients that renew several times at once. */
  readonly overlapMs: () => number;
  /** By the grant's id. */
  readonly consents: ReadonlyMap<string, ConsentFacts>;
  /** The client that asks for a token at this moment; undefined for every other request. */
  readonly tokenClient: () => LibraryClient | undefined;
  /** The error that tells a client to log in again. */
  readonly refusal: (message: string) => Error;
}

/** So often may a refresh token be used again: more is not a client that renews several times at once. */
const mostUses = 20;
/** A client that registered and is not used. Each hour in which it gets a token begins the time again. */
export const clientMs = 90 * 86_400_000;
/** Many that register within a few minutes are not left to the next time that what expired is removed. */
const registeredPerPurge = 200;
const hourMs = 3_600_000;
const noExpiryMs = 180 * 86_400_000;

type Kept = (kind: string) => LibraryAdapter;

/**
 * Where the authorization server keeps what it gives out. Ids of tokens, codes and cookies are not in the database:
 * rows are found by their SHA-256, and in the sealed payload a mark takes their place.
 */
export function createOAuthAdapter(deps: OAuthAdapterDeps): Kept {
  const sessions = createSessionMemory();
  return (kind) => (kind === "Session" ? sessions : kind === "Grant" ? createGrants(deps) : createItems(kind, deps));
}

/** What becomes of a refresh token that somebody presents. */
function createRefreshRules(deps: OAuthAdapterDeps) {
  const { change, directory, clock } = deps;

  /** Somebody has the token of another app: nothing is good any more that came of the same consent. */
  async function refuseThief({ grantId }: OAuthItemRow): Promise<void> {
    const grant = directory.access.grants.get(grantId ?? "");
    if (grant === undefined) return;
    const about = { actor: grant.membershipId, via: "grant", object: grant.clientName, ip: null };
    const detail = { grant: grant.id, client: deps.tokenClient()?.clientId };
    await change({ goneGrants: [grant.id] }, { ...about, action: "app.refresh.foreign", outcome: "denied", detail });
  }

  /** A used refresh token is as good as new for a while: clients renew several times at once, and lose answers. */
  async function forgive(row: OAuthItemRow, payload: Payload): Promise<Payload> {
    if (row.consumedAtMs === null) return payload;
    const isLate = row.consumedAtMs + deps.overlapMs() <= clock.now() || row.uses >= mostUses;
    const grant = directory.access.grants.get(row.grantId ?? "");
    const action = isLate ? "app.refresh.reuse" : "app.refresh.again";
    const about = { actor: grant?.membershipId ?? "unknown", via: "grant", object: grant?.clientName ?? "", ip: null };
    await change({}, { ...about, action, outcome: isLate ? "denied" : "ok", detail: { grant: row.grantId } });
    if (isLate) return payload;
    const { consumed: _consumed, ...fresh } = payload;
    return fresh;
  }

  /**
   * Where renewal is strict, one of several requests at once gets tokens. The others may be a thief's or the owner's:
   * nothing is good any more that came of the consent, what the first one gets included.
   */
  async function refuseSecond({ grantId }: OAuthItemRow): Promise<void> {
    const grant = await findGrant(deps, grantId ?? "");
    if (grant === undefined) return;
    const about = { actor: grant.membershipId, via: "grant", object: grant.clientName, ip: null };
    const detail = { grant: grant.id };
    await change({ goneGrants: [grant.id] }, { ...about, action: "app.refresh.reuse", outcome: "denied", detail });
  }

  return {
    refuseSecond,
    async check(row: OAuthItemRow, payload: Payload): Promise<Payload | undefined> {
      const client = deps.tokenClient();
      if (client === undefined || client.clientId === payload["clientId"]) return await forgive(row, payload);
      await refuseThief(row);
      return undefined;
    },
  };
}

function createItems(kind: string, deps: OAuthAdapterDeps): LibraryAdapter {
  const { store, change, directory, sealing, clock } = deps;
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const refreshRules = createRefreshRules(deps);
  let registered = 0;
  // A device's code has to be found by what its owner types, so it is in the sealed payload.
  const isNamed = kind !== "DeviceCode" && kind !== "Client";

  function toRow(id: string, payload: Payload, expiresIn: number | undefined): OAuthItemRow {
    const hash = sha256(id);
    const kept = kind === "Client" ? withHashedSecret(payload) : payload;
    const json = JSON.stringify(kept);
    const sealed = sealing.seal(isNamed ? json.replaceAll(id, `#${hash}#`) : json, `${kind} ${hash}`);
    const userCode = text(payload["userCode"]);
    const lifeMs = expiresIn === undefined ? (kind === "Client" ? clientMs : noExpiryMs) : expiresIn * 1_000;
    return {
      kind,
      hash,
      grantId: text(payload["grantId"]),
      lookup: userCode === null ? null : sealing.blind(userCode),
      scopes: kind === "AccessToken" ? text(payload["scope"]) : null,
      audience: kind === "AccessToken" ? text(payload["aud"]) : null,
      payload: sealed,
      consumedAtMs: null,
      uses: 0,
      expiresAtMs: clock.now() + lifeMs,
    };
  }

  function toPayload(row: OAuthItemRow | undefined, id: string | undefined): Payload | undefined {
    const json = row === undefined ? undefined : sealing.open(row.payload, `${row.kind} ${row.hash}`);
    if (row === undefined || json === undefined) return undefined;
    const payload = JSON.parse(isNamed && id !== undefined ? json.replaceAll(`#${row.hash}#`, id) : json) as Payload;
    return row.consumedAtMs === null ? payload : { ...payload, consumed: Math.floor(row.consumedAtMs / 1_000) };
  }

  return {
    async upsert(id, payload, expiresIn) {
      const row = toRow(id, payload, expiresIn);
      const grant = kind === "AccessToken" ? directory.access.grants.get(row.grantId ?? "") : undefined;
      const usedGrants = usedNow(directory, grant?.id ?? null, clock.now());
      const prolonged = usedGrants.map(() => keptOn(grant?.clientId ?? "", clock.now()));
      // Revoked in this moment, here or at another gateway: nothing that belongs to a revoked grant is kept.
      if (!(await change({ items: [row], usedGrants, prolonged }))) throw deps.refusal("it was taken back");
      // The app is registered, whether or not there is room for the next: that is made every few minutes as well.
      if (kind === "Client" && (registered += 1) % registeredPerPurge === 0)
        await store.purgeAccess(clock.now()).catch(() => undefined);
    },
    async find(id) {
      const row = await store.oauthItem({ kind, hash: sha256(id) });
      if (row === undefined || row.expiresAtMs <= clock.now()) return undefined;
      const payload = toPayload(row, id);
      if (kind !== "RefreshToken" || payload === undefined) return payload;
      return await refreshRules.check(row, payload);
    },
    async findByUserCode(userCode) {
      return toPayload(await store.oauthItem({ kind, lookup: sealing.blind(userCode) }), undefined);
    },
    findByUid: async () => undefined,
    async consume(id) {
      const place = { kind, hash: sha256(id) };
      const once = kind !== "RefreshToken" || deps.overlapMs() <= 0;
      if (await change({ consumed: { ...place, atMs: clock.now(), once } })) return;
      const row = kind === "RefreshToken" ? await store.oauthItem(place) : undefined;
      if (row !== undefined) await refreshRules.refuseSecond(row);
      throw deps.refusal("it was used before");
    },
    destroy: async (id) => void (await change({ goneItems: [{ kind, hash: sha256(id) }] })),
    revokeByGrantId: async (grantId) => await revokeGrant(deps, grantId),
  };
}

/** Consents are in memory, with everybody's memberships: the library asks for them again and again. */
function createGrants(deps: OAuthAdapterDeps): LibraryAdapter {
  const { change, directory, sealing, clock, consents } = deps;
  const find = async (id: string): Promise<Payload | undefined> => {
    const row = await findGrant(deps, id);
    const json = row === undefined || !directory.book.members.has(row.membershipId) ? undefined : row.payload;
    const open = json === undefined ? undefined : sealing.open(json, `Grant ${id}`);
    return open === undefined ? undefined : (JSON.parse(open) as Payload);
  };
  return {
    async upsert(id, payload, expiresIn = 0) {
      const facts = consents.get(id);
      if (facts === undefined) throw new Error("a consent is written by nobody");
      const resources = Object.entries((payload["resources"] ?? {}) as Record<string, string>);
      const now = clock.now();
      const row: GrantRow = {
        id,
        membershipId: String(payload["accountId"]),
        clientId: String(payload["clientId"]),
        clientName: facts.clientName,
        scopes: resources[0]?.[1] ?? "",
        audience: resources.map(([url]) => url).join(" "),
        via: facts.session.via,
        sid: facts.session.sid,
        payload: sealing.seal(JSON.stringify(payload), `Grant ${id}`),
        createdAtMs: now,
        usedAtMs: now - (now % hourMs),
        expiresAtMs: now + expiresIn * 1_000,
      };
      const { actor, team, ip, clientName } = facts;
      const detail = { grant: id, client: row.clientId, scopes: row.scopes, resources: resources.map(([url]) => url) };
      await change(
        { grants: [row], prolonged: [keptOn(row.clientId, now)] },
        { actor, via: facts.via ?? "browser", action: "app.consent", object: clientName, team, ip, detail },
      );
    },
    find,
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
    consume: async () => undefined,
    destroy: async (id) => await revokeGrant(deps, id),
    revokeByGrantId: async (id) => await revokeGrant(deps, id),
  };
}

/** One that was given at another gateway a moment ago is read. */
async function findGrant({ directory, store }: OAuthAdapterDeps, id: string): Promise<GrantRow | undefined> {
  const known = directory.access.grants.get(id);
  if (known !== undefined || !store.isShared) return known;
  const row = await store.grant(id);
  if (row !== undefined) directory.applyAccess({ grants: [row] });
  return row;
}

/** Revokes everything that an app was given: its tokens, and everything that was opened with them. */
async function revokeGrant(deps: OAuthAdapterDeps, grantId: string): Promise<void> {
  const { change } = deps;
  const row = await findGrant(deps, grantId);
  if (row === undefined) return;
  const about = { actor: row.membershipId, via: "grant", object: row.clientName, ip: null };
  await change({ goneGrants: [grantId] }, { ...about, action: "app.revoke", detail: { grant: grantId } });
}

/** A client that registered and is used. One that has a document of its own is no row, and one of an admin's stays. */
function keptOn(clientId: string, now: number): NonNullable<AccessWrites["prolonged"]>[number] {
  return { kind: "Client", hash: sha256(clientId), expiresAtMs: now + clientMs };
}

/** With each renewal in another hour. */
function usedNow(
  directory: OAuthAdapterDeps["directory"],
  grantId: string | null,
  now: number,
): readonly Pick<GrantRow, "id" | "usedAtMs">[] {
  const row = directory.access.grants.get(grantId ?? "");
  const usedAtMs = now - (now % hourMs);
  return row === undefined || row.usedAtMs === usedAtMs ? [] : [{ id: row.id, usedAtMs }];
}

/** A client as it is kept: its secret is a hash, and what it says of itself is sealed. */
export function toClientRow(
  sealing: Pick<Sealing, "seal">,
  { id, payload, expiresAtMs }: { readonly id: string; readonly payload: Payload; readonly expiresAtMs: number },
): OAuthItemRow {
  const hash = sha256(id);
  return {
    ...{ kind: "Client", hash, grantId: null, lookup: null, scopes: null, audience: null },
    payload: sealing.seal(JSON.stringify(withHashedSecret(payload)), `Client ${hash}`),
    ...{ consumedAtMs: null, uses: 0, expiresAtMs },
  };
}

/** Secrets of clients are tokens: the kept form does not open anything. */
function withHashedSecret(payload: Payload): Payload {
  const secret = payload["client_secret"];
  return typeof secret === "string" && !secret.startsWith(hashedMark)
    ? { ...payload, client_secret: hashedMark + sha256(secret) }
    : payload;
}

/** The mark before a client's secret that is a hash. */
export const hashedMark = "sha256:";

const mostSessions = 1_000;

/**
 * The library's own sessions. Who is logged in is not its business: they only tie the steps of one login together, so
 * they are in memory, and say nothing of anybody.
 */
function createSessionMemory(): LibraryAdapter {
  const kept = new Map<string, Payload>();
  return {
    async upsert(id, { state, uid, jti, kind, iat, exp }) {
      kept.delete(id);
      if (state === undefined) return;
      kept.set(id, { state, uid, jti, kind, iat, exp });
      const oldest = kept.keys().next();
      if (kept.size > mostSessions && oldest.done !== true) kept.delete(oldest.value);
    },
    find: async (id) => kept.get(id),
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
    consume: async () => undefined,
    destroy: async (id) => void kept.delete(id),
    revokeByGrantId: async () => undefined,
  };
}
