import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { InstanceTokenRecord, InstanceTokenStore, ListChange, SharedListStore } from "../../store/store.ts";
import type { Directory } from "../directory/directory.ts";
import { readBearer } from "./authenticator.ts";
import type { LookUp } from "./look-ups.ts";
import { openOnce } from "../../kernel/runtime/late-module.ts";

/** Tokens that give access to the endpoint of one instance (`/i/{instance}/mcp`). */
export interface InstanceTokens {
  /** Makes a token, which is never shown again. Resolves once its hash is stored. */
  issue(instance: InstanceId, principal: PrincipalId): Promise<string>;
  /**
   * Returns who comes with the request's token, at once when it and its owner are known locally, otherwise a promise
   * for the answer of the database or directory: for each token an object of its own, so that what was opened with it
   * ends with it. Throws, or rejects with, UNAUTHORIZED, whose text does not say why; a promise may also reject with
   * STORE_UNAVAILABLE.
   */
  authenticate(request: IncomingMessage, instance: InstanceId): Principal | Promise<Principal>;
  /** The principal's tokens for an instance, oldest first, without themselves. */
  list(instance: InstanceId, principal: PrincipalId): Promise<readonly InstanceTokenLine[]>;
  /** Revokes all tokens of the principal for an instance. Resolves to how many there were. */
  revoke(instance: InstanceId, principal: PrincipalId): Promise<number>;
  /**
   * For a principal with one of these tokens: the person as the directory knows them, or undefined after the token was
   * revoked. Anybody else is returned as they are.
   */
  ownerOf(principal: Principal): Principal | undefined;
  /** Calls `listener` when a token was revoked, before that is stored. Returns the function that unsubscribes. */
  onRevoked(listener: () => void): () => void;
}

export interface InstanceTokenLine {
  /** The beginning of its hash, which tells it from others. */
  readonly id: string;
  readonly createdAtMs: number;
  /** False after the token or login that it was made with was taken away: it lets no one in any more. */
  readonly isGood: boolean;
}

/** A token that is known, with who comes with it: made when it is first used, and again for another owner. */
interface HeldToken {
  readonly record: InstanceTokenRecord;
  bearer?: { readonly owner: Principal; readonly principal: Principal };
}

const prefix = "ty_inst_";
const tokenForm = /^ty_inst_[0-9a-f]{64}$/;
/**
 * The most tokens of one principal for one instance; only a program that asks for a new one at every start needs
 * more. Beyond it the oldest is revoked.
 */
const mostPerInstance = 20;

/** Instance tokens that are kept in `store`. */
export function createInstanceTokens(options: {
  readonly store: InstanceTokenStore;
  /** Where gateways of one database share them: then `store` is not read here. */
  readonly openShared?: (() => Promise<SharedListStore<InstanceTokenRecord>>) | undefined;
  readonly now: () => number;
  readonly directory: Directory;
  readonly lookUp: LookUp;
  /** Whether `?token=` is accepted (`auth.allowTokenInUrl`). */ readonly inUrl: () => boolean;
}): InstanceTokens {
  const { directory } = options;
  const kept = createKeptTokens(options.store, options.openShared);
  const bearers = createBearers();

  function credentialsOf(principal: PrincipalId): string[] {
    return directory.credentialsOf(principal).map((hash) => hash.slice(0, 16));
  }

  function isStillGood({ principal, madeUnder }: InstanceTokenRecord): boolean {
    const now = credentialsOf(principal);
    // A token made while the gateway required no credentials is valid only as long as it requires none.
    return madeUnder.length === 0 ? now.length === 0 : madeUnder.every((credential) => now.includes(credential));
  }

  /** Whether a token is still one of those that are known, and what it was made with is there. */
  function isGood(held: HeldToken): boolean {
    return kept.has(held) && isStillGood(held.record);
  }

  const enter = createEntrance({ ...options, bearers, isGood, isStillGood });

  return {
    async issue(instance, principal) {
      await kept.opened();
      const token = `${prefix}${randomBytes(32).toString("hex")}`;
      const hash = sha256(token);
      const removed = kept.of(instance, principal).slice(0, 1 - mostPerInstance);
      kept.drop(removed);
      const about = { createdAtMs: options.now(), madeUnder: credentialsOf(principal) };
      const added = [{ hash, instance, principal, ...about }];
      kept.add(added);
      await kept.write({ added, removed });
      return token;
    },
    authenticate(request, instance) {
      const token = readBearer(request) ?? (options.inUrl() ? tokenInUrl(request) : undefined);
      if (token === undefined || !tokenForm.test(token)) throw unauthorized();
      const hash = sha256(token);
      const held = kept.find(hash);
      if (held !== undefined || !kept.isShared) return enter(request, held, instance);
      return kept.lookFor(hash).then((found) => enter(request, found, instance));
    },
    async list(instance, principal) {
      await kept.opened();
      return kept.of(instance, principal).map((record) => {
        const { hash, createdAtMs } = record;
        return { id: hash.slice(0, 16), createdAtMs, isGood: isStillGood(record) };
      });
    },
    async revoke(instance, principal) {
      await kept.opened();
      const gone = kept.of(instance, principal);
      kept.drop(gone);
      if (gone.length > 0) await kept.write({ removed: gone });
      return gone.length;
    },
    ownerOf(principal) {
      const bearer = bearers.find(principal);
      if (bearer === undefined) return principal;
      return isGood(bearer.held) ? bearer.owner : undefined;
    },
    onRevoked: kept.onRevoked,
  };
}

/** Who comes with a token that is known, where it is still good. */
function createEntrance({
  directory,
  lookUp,
  bearers,
  isGood,
  isStillGood,
}: {
  readonly directory: Directory;
  readonly lookUp: LookUp;
  readonly bearers: ReturnType<typeof createBearers>;
  readonly isGood: (held: HeldToken) => boolean;
  readonly isStillGood: (record: InstanceTokenRecord) => boolean;
}) {
  return function enter(request: IncomingMessage, held: HeldToken | undefined, instance: InstanceId) {
    if (held === undefined || held.record.instance !== instance) throw unauthorized();
    const { record } = held;
    const { elsewhere } = directory;
    const owner = directory.byId(record.principal);
    if (owner !== undefined) {
      if (!isStillGood(record)) throw unauthorized();
      const refusal = directory.isCurrent(owner) ? undefined : directory.refusal?.();
      if (refusal !== undefined) throw refusal;
      return bearers.of(held, owner);
    }
    if (elsewhere === undefined) throw unauthorized();
    const find = async (signal: AbortSignal): Promise<Principal | undefined> => {
      const found = await elsewhere.byId(record.principal, signal);
      // While the directory was asked, the token may have been revoked; and only now are the tokens of its owner
      // known, on which its validity depends.
      return isGood(held) ? found : undefined;
    };
    return lookUp(request, find, unauthorized).then((found) => {
      if (!isGood(held)) throw unauthorized();
      return bearers.of(held, found);
    });
  };
}

/** All tokens that were issued, read when first needed, because most gateways have none. */
function createKeptTokens(
  own: InstanceTokenStore,
  openShared: (() => Promise<SharedListStore<InstanceTokenRecord>>) | undefined,
) {
  const listeners = new Set<() => void>();
  let records: Map<string, HeldToken> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let shared: SharedListStore<InstanceTokenRecord> | undefined;

  function known(): Map<string, HeldToken> {
    // Before those of the database are read, none is known.
    if (openShared !== undefined && shared === undefined) return new Map();
    records ??= new Map((shared ?? own).read().map((record) => [record.hash, { record }]));
    return records;
  }

  /** What other gateways made and revoked; the others stay the same objects. */
  function follow(list: SharedListStore<InstanceTokenRecord>): void {
    const before = known();
    const next = new Map(list.read().map((record) => [record.hash, before.get(record.hash) ?? { record }]));
    const hasLost = [...before.keys()].some((hash) => !next.has(hash));
    records = next;
    if (hasLost) for (const listener of listeners) listener();
  }

  const open =
    openShared &&
    openOnce(async () => {
      const list = await openShared();
      list.onChange(() => follow(list));
      shared = list;
      return list;
    });

  function add(records: readonly InstanceTokenRecord[]): void {
    for (const record of records) known().set(record.hash, { record });
  }

  function drop(gone: readonly InstanceTokenRecord[]): void {
    for (const { hash } of gone) known().delete(hash);
    if (gone.length > 0) for (const listener of listeners) listener();
  }

  return {
    isShared: open !== undefined,
    /** Resolves when all are known. Rejects with STORE_UNAVAILABLE where they cannot be. */
    opened: async (): Promise<void> => void (await open?.()),
    find: (hash: string) => known().get(hash),
    /** One that another gateway may have made just now. */
    async lookFor(hash: string): Promise<HeldToken | undefined> {
      const list = await open?.();
      if (!known().has(hash)) await list?.look(hash);
      return known().get(hash);
    },
    has: (held: HeldToken) => known().get(held.record.hash) === held,
    of: (instance: InstanceId, principal: PrincipalId): readonly InstanceTokenRecord[] =>
      [...known().values()]
        .map(({ record }) => record)
        .filter((record) => record.instance === instance && record.principal === principal),
    add,
    drop,
    /** Writes run one after the other; in a file, each stores the tokens that are known when its turn comes. */
    async write(change: ListChange<InstanceTokenRecord>): Promise<void> {
      const one = async (): Promise<void> => {
        if (shared === undefined) return await own.write([...known().values()].map(({ record }) => record));
        await shared.write(change);
        // What was read meanwhile, because another gateway changed something, may be older than this.
        add((change.added ?? []).filter(({ hash }) => !known().has(hash)));
        drop((change.removed ?? []).filter(({ hash }) => known().has(hash)));
      };
      writing = writing.catch(() => undefined).then(one);
      await writing;
    },
    onRevoked(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Who comes with tokens. */
function createBearers() {
  const known = new WeakMap<Principal, { readonly held: HeldToken; readonly owner: Principal }>();
  return {
    find: (principal: Principal) => known.get(principal),
    of(held: HeldToken, owner: Principal): Principal {
      if (held.bearer?.owner === owner) return held.bearer.principal;
      const principal: Principal = Object.freeze({ ...owner, via: "instance" });
      held.bearer = { owner, principal };
      known.set(principal, { held, owner });
      return principal;
    },
  };
}

function tokenInUrl(request: IncomingMessage): string | undefined {
  const query = (request.url ?? "").split("?", 2)[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get("token") ?? undefined);
}

function sha256(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function unauthorized(): GatewayError {
  return new GatewayError("UNAUTHORIZED", "this endpoint needs a token of its instance", {
    hint: "Send Authorization: Bearer <instance token>; POST /api/instances/{id}/token makes one.",
  });
}
