import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { InstanceTokenRecord, InstanceTokenStore } from "../../store/store.ts";
import type { Directory } from "../directory/directory.ts";
import { readBearer } from "./authenticator.ts";
import type { LookUp } from "./look-ups.ts";

/** Tokens that give access to the endpoint of one instance (`/i/{instance}/mcp`). */
export interface InstanceTokens {
  /** Makes a token, which is never shown again. Resolves once its hash is stored. */
  issue(instance: InstanceId, principal: PrincipalId): Promise<string>;
  /**
   * Returns the owner of the request's token at once when known locally, otherwise a promise for the directory's
   * answer. Throws, or rejects with, UNAUTHORIZED, whose text does not say why.
   */
  authenticate(request: IncomingMessage, instance: InstanceId): Principal | Promise<Principal>;
  /** The principal's tokens for an instance, oldest first, without themselves. */
  list(instance: InstanceId, principal: PrincipalId): readonly InstanceTokenLine[];
  /** Revokes all tokens of the principal for an instance. Resolves to how many there were. */
  revoke(instance: InstanceId, principal: PrincipalId): Promise<number>;
}

export interface InstanceTokenLine {
  /** The beginning of its hash, which tells it from others. */
  readonly id: string;
  readonly createdAtMs: number;
  /** False after what it was made with was taken away: it lets nobody in any more. */
  readonly isGood: boolean;
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
  readonly now: () => number;
  readonly directory: Directory;
  readonly lookUp: LookUp;
  /** Whether `?token=` is accepted (`auth.allowTokenInUrl`). */ readonly inUrl: () => boolean;
}): InstanceTokens {
  let records: Map<string, InstanceTokenRecord> | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Read when first needed, because most gateways have no instance tokens. */
  function known(): Map<string, InstanceTokenRecord> {
    records ??= new Map(options.store.read().map((record) => [record.hash, record]));
    return records;
  }

  /** Stores the records. Writes run one after the other, and each stores what is known when its turn comes. */
  async function keep(): Promise<void> {
    writing = writing.catch(() => undefined).then(async () => await options.store.write([...known().values()]));
    await writing;
  }

  function own(instance: InstanceId, principal: PrincipalId): InstanceTokenRecord[] {
    return [...known().values()].filter((record) => record.instance === instance && record.principal === principal);
  }

  function credentialsOf(principal: PrincipalId): string[] {
    return options.directory.credentialsOf(principal).map((hash) => hash.slice(0, 16));
  }

  function isStillGood({ principal, madeUnder }: InstanceTokenRecord): boolean {
    const now = credentialsOf(principal);
    // A token made while the gateway required no credentials is valid only as long as it requires none.
    return madeUnder.length === 0 ? now.length === 0 : madeUnder.every((credential) => now.includes(credential));
  }

  return {
    async issue(instance, principal) {
      const token = `${prefix}${randomBytes(32).toString("hex")}`;
      const hash = sha256(token);
      for (const record of own(instance, principal).slice(0, 1 - mostPerInstance)) known().delete(record.hash);
      known().set(hash, { hash, instance, principal, createdAtMs: options.now(), madeUnder: credentialsOf(principal) });
      await keep();
      return token;
    },
    authenticate(request, instance) {
      const token = readBearer(request) ?? (options.inUrl() ? tokenInUrl(request) : undefined);
      const record = token !== undefined && tokenForm.test(token) ? known().get(sha256(token)) : undefined;
      if (record === undefined || record.instance !== instance) throw unauthorized();
      const { directory, lookUp } = options;
      const { elsewhere } = directory;
      const principal = directory.byId(record.principal);
      if (principal !== undefined) {
        if (!isStillGood(record)) throw unauthorized();
        const refusal = directory.isCurrent(principal) ? undefined : directory.refusal?.();
        if (refusal !== undefined) throw refusal;
        return principal;
      }
      if (elsewhere === undefined) throw unauthorized();
      const find = async (signal: AbortSignal): Promise<Principal | undefined> => {
        const found = await elsewhere.byId(record.principal, signal);
        // While the directory was asked, the token may have been revoked; and only now are the tokens of its owner
        // known, on which its validity depends.
        return known().get(record.hash) === record && isStillGood(record) ? found : undefined;
      };
      return lookUp(request, find, unauthorized);
    },
    list: (instance, principal) =>
      own(instance, principal).map((record) => {
        const { hash, createdAtMs } = record;
        return { id: hash.slice(0, 16), createdAtMs, isGood: isStillGood(record) };
      }),
    async revoke(instance, principal) {
      const gone = own(instance, principal);
      for (const record of gone) known().delete(record.hash);
      if (gone.length > 0) await keep();
      return gone.length;
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
