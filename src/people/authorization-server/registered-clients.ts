import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import type { OAuthItemRow } from "../../store/access-rows.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { ChangeActor } from "../directory/change-queue.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { sha256, type ChangeAccess } from "./access-changes.ts";
import { isRedirect, normalizeClient } from "./oauth/client-metadata.ts";
import { toClientRow } from "./oauth/oauth-adapter.ts";
import type { Sealing } from "./oauth/sealed-rows.ts";

/** An app that is registered here: by itself, or by an admin. Those that publish a document of their own are not. */
export interface ClientLine {
  readonly id: string;
  /** As it names itself; untrusted unless an admin registered it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly hasSecret: boolean;
  /** How many people's access it has. */
  readonly apps: number;
  /** Null for one that an admin registered. */
  readonly expiresAtMs: number | null;
}

export interface NewClient {
  readonly name: string;
  /** None: for a service that only asks what tokens are. */
  readonly redirectUris: readonly string[];
  /** A client that can keep a secret. */
  readonly hasSecret: boolean;
}

export interface MadeClient {
  readonly id: string;
  /** Shown only now. */
  readonly secret: string | null;
}

export interface ClientPage {
  /** Those of admins first, then the others, the one that is kept longest first. */
  readonly clients: readonly ClientLine[];
  /** What the next page is asked for with. */
  readonly nextCursor: string | null;
}

/** Apps that are known before they first come. Everything rejects as the store does. */
export interface RegisteredClients {
  /** Rejects with CURSOR_INVALID. */
  list(page: { readonly limit: number; readonly cursor?: string | undefined }): Promise<ClientPage>;
  find(id: string): Promise<ClientLine | undefined>;
  /** Rejects with REQUEST_INVALID. */
  add(by: ChangeActor, given: NewClient): Promise<MadeClient>;
  /** With everything that it was given: what it has opened ends. Rejects with PERSON_UNKNOWN. */
  remove(by: ChangeActor, id: string): Promise<void>;
}

export interface RegisteredClientsDeps {
  readonly store: Pick<AccessStore, "oauthItems" | "oauthItem">;
  readonly change: ChangeAccess;
  readonly directory: Pick<TeamDirectory, "access">;
  readonly sealing: Pick<Sealing, "seal" | "open">;
  readonly clock: Pick<Clock, "now">;
}

/** As it was checked by the library, or by us, before it was kept. */
interface KeptClient {
  readonly client_id: string;
  readonly client_name?: string;
  readonly client_secret?: string;
  readonly redirect_uris?: readonly string[];
}

/** An admin's client stays until it is removed: longer than any gateway runs. */
const foreverMs = 100 * 365 * 86_400_000;
const longMs = 10 * 365 * 86_400_000;
const mostRedirects = 20;
const longestText = 500;

export function createRegisteredClients(deps: RegisteredClientsDeps): RegisteredClients {
  const { store, change, directory, sealing, clock } = deps;

  function grantsOf(id: string): readonly string[] {
    return [...directory.access.grants.values()].flatMap((row) => (row.clientId === id ? [row.id] : []));
  }

  function toLine({ hash, payload, expiresAtMs }: OAuthItemRow, apps: (id: string) => number): ClientLine | undefined {
    const open = sealing.open(payload, `Client ${hash}`);
    if (open === undefined || expiresAtMs <= clock.now()) return undefined;
    const known = JSON.parse(open) as KeptClient;
    const id = known.client_id;
    const about = { id, name: known.client_name ?? "", redirectUris: known.redirect_uris ?? [] };
    const isOurs = expiresAtMs > clock.now() + longMs;
    const hasSecret = known.client_secret !== undefined;
    return { ...about, hasSecret, apps: apps(id), expiresAtMs: isOurs ? null : expiresAtMs };
  }

  return {
    async list({ limit, cursor }) {
      const rows = await store.oauthItems({
        ...{ kind: "Client", nowMs: clock.now(), limit: limit + 1 },
        after: readCursor(cursor),
      });
      const counts = countApps(directory);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const clients = page.flatMap((row) => toLine(row, (id) => counts.get(id) ?? 0) ?? []);
      return { clients, nextCursor: rows.length > limit && last !== undefined ? toCursor(last) : null };
    },
    async find(id) {
      const row = await store.oauthItem({ kind: "Client", hash: sha256(id) });
      return row === undefined ? undefined : toLine(row, (one) => grantsOf(one).length);
    },
    async add({ id: actor, via, ip }, { name, redirectUris, hasSecret }) {
      checkClient(name, redirectUris);
      const id = randomId("");
      const secret = hasSecret ? randomBytes(32).toString("base64url") : null;
      const method = hasSecret ? "client_secret_basic" : "none";
      const metadata = normalizeClient({
        ...{ client_name: name, redirect_uris: redirectUris, token_endpoint_auth_method: method },
      });
      const payload = { ...metadata, client_id: id, ...(secret === null ? {} : { client_secret: secret }) };
      const isService = redirectUris.length === 0;
      const flows = isService ? { grant_types: [], response_types: [] } : {};
      const row = toClientRow(sealing, { id, payload: { ...payload, ...flows }, expiresAtMs: clock.now() + foreverMs });
      const detail = { name, redirectUris };
      await change({ items: [row] }, { actor, via, ip, action: "client.add", object: id, detail });
      return { id, secret };
    },
    async remove({ id: actor, via, ip }, id) {
      const place = { kind: "Client", hash: sha256(id) };
      const goneGrants = grantsOf(id);
      // One with a document of its own is no row, but has been given something all the same.
      if ((await store.oauthItem(place)) === undefined && goneGrants.length === 0)
        throw new GatewayError("PERSON_UNKNOWN", "there is no such client", { hint: "" });
      const detail = { apps: goneGrants.length };
      await change({ goneItems: [place], goneGrants }, { actor, via, ip, action: "client.remove", object: id, detail });
    },
  };
}

function countApps({ access }: RegisteredClientsDeps["directory"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of access.grants.values()) counts.set(row.clientId, (counts.get(row.clientId) ?? 0) + 1);
  return counts;
}

function toCursor({ expiresAtMs, hash }: Pick<OAuthItemRow, "expiresAtMs" | "hash">): string {
  return `${expiresAtMs}.${hash}`;
}

/** Throws CURSOR_INVALID. */
function readCursor(cursor: string | undefined): Pick<OAuthItemRow, "expiresAtMs" | "hash"> | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  const [, expiresAtMs, hash = ""] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(cursor) ?? [];
  if (expiresAtMs === undefined) throw new GatewayError("CURSOR_INVALID", "the cursor is not one that was given out");
  return { expiresAtMs: Number(expiresAtMs), hash };
}

function checkClient(name: string, redirectUris: readonly string[]): void {
  const isName = name.trim() !== "" && name.length <= 100 && !/\p{C}/u.test(name);
  if (!isName) throw new GatewayError("REQUEST_INVALID", "a client has a name of 1 to 100 characters");
  if (redirectUris.length > mostRedirects || !redirectUris.every((uri) => uri.length <= longestText && isRedirect(uri)))
    throw new GatewayError(
      "REQUEST_INVALID",
      "a client is called back at an absolute URL without user and fragment: over https, at http on its own machine, or at an app's own scheme",
    );
}
