import { randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { ChangeActor } from "../directory/change-queue.ts";
import type { TeamDirectory } from "../directory/team-directory.ts";
import { sha256, type ChangeAccess } from "./access-changes.ts";
import { normalizeClient } from "./client-metadata.ts";
import { toClientRow } from "./oauth-adapter.ts";
import type { Sealing } from "./sealed-rows.ts";

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

/** Apps that are known before they first come. Everything rejects as the store does. */
export interface RegisteredClients {
  list(): Promise<readonly ClientLine[]>;
  /** Rejects with REQUEST_INVALID. */
  add(by: ChangeActor, given: NewClient): Promise<MadeClient>;
  /** With everything that it was given: what it has opened ends. Rejects with PERSON_UNKNOWN. */
  remove(by: ChangeActor, id: string): Promise<void>;
}

export interface RegisteredClientsDeps {
  readonly store: Pick<AccessStore, "itemsOf" | "item">;
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
    return [...directory.access.grants.values()].flatMap(({ row }) => (row.clientId === id ? [row.id] : []));
  }

  return {
    async list() {
      const rows = await store.itemsOf("Client", clock.now());
      return rows.flatMap(({ hash, payload, expiresAtMs }): readonly ClientLine[] => {
        const open = sealing.open(payload, `Client ${hash}`);
        if (open === undefined) return [];
        const known = JSON.parse(open) as KeptClient;
        const id = known.client_id;
        const uris = known.redirect_uris ?? [];
        const about = { id, name: known.client_name ?? "", redirectUris: uris };
        const isOurs = expiresAtMs > clock.now() + longMs;
        const hasSecret = known.client_secret !== undefined;
        return [{ ...about, hasSecret, apps: grantsOf(id).length, expiresAtMs: isOurs ? null : expiresAtMs }];
      });
    },
    async add({ id: actor, via, ip }, { name, redirectUris, hasSecret }) {
      checkClient(name, redirectUris);
      const id = randomBytes(24).toString("base64url");
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
      if ((await store.item(place.kind, place.hash)) === undefined && goneGrants.length === 0)
        throw new GatewayError("PERSON_UNKNOWN", "there is no such client", { hint: "" });
      const detail = { apps: goneGrants.length };
      await change({ goneItems: [place], goneGrants }, { actor, via, ip, action: "client.remove", object: id, detail });
    },
  };
}

function checkClient(name: string, redirectUris: readonly string[]): void {
  const isName = name.trim() !== "" && name.length <= 100 && !/\p{C}/u.test(name);
  if (!isName) throw new GatewayError("REQUEST_INVALID", "a client has a name of 1 to 100 characters");
  const isGood = (uri: string): boolean =>
    uri.length <= longestText && URL.canParse(uri) && !/^(?:javascript|data|vbscript|file|blob):/i.test(uri);
  if (redirectUris.length > mostRedirects || !redirectUris.every(isGood))
    throw new GatewayError("REQUEST_INVALID", "an address that a client is called back at is an absolute URL");
}
