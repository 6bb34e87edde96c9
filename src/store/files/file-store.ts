import { createHash, hkdfSync } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import type { KeySource } from "../../config/key-source.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type {
  GatewayStore,
  InstanceTokenRecord,
  InstanceTokenStore,
  SpillStore,
  Store,
  StoreBackend,
  StoreOptions,
} from "../store.ts";
import { createCatalogFiles } from "./catalog-files.ts";
import { claimPlace, listGateways, makePlace, placeOf } from "./safe/gateway-places.ts";
import { openKeyRing } from "./safe/key-ring-file.ts";
import { createApprovalsFile, createKeptSearchesFile, createPinsFile } from "./kept-files.ts";
import { createNamespaceUsageFile, createTokenCountsFile } from "./learned-file.ts";
import { replaceFile } from "./safe/replace-file.ts";
import { seal, unseal } from "./safe/sealing.ts";
import { createVaultKey, previousKey } from "./safe/vault-key.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { readStartTime } from "../../servers/process/process-table.ts";
import type { DefinitionStore } from "../../catalog/definitions/definition-book.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Increased when the format of the file changes. */
const format = 2;

/**
 * Stores the hashes of instance tokens in one JSON file with mode 0600. If the file cannot be read, no token is
 * valid.
 */
function createInstanceTokensFile(path: string, onFailure: (error: unknown) => void): InstanceTokenStore {
  return {
    read() {
      try {
        const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
        if (!isJsonObject(kept) || kept["format"] !== format || !Array.isArray(kept["tokens"]))
          throw new Error("the file has an unknown format");
        return kept["tokens"].flatMap((token: unknown) => parseToken(token) ?? []);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return [];
      }
    },
    write: async (tokens) => await replaceFile(path, JSON.stringify({ format, tokens })),
  };
}

function parseToken(token: unknown): InstanceTokenRecord | undefined {
  if (!isJsonObject(token)) return undefined;
  const { hash, instance, principal, createdAtMs, madeUnder } = token;
  const isWhole =
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof instance === "string" &&
    typeof principal === "string" &&
    typeof createdAtMs === "number" &&
    Array.isArray(madeUnder) &&
    madeUnder.every((credential) => typeof credential === "string");
  return isWhole
    ? { hash, instance: instance as InstanceId, principal: principal as PrincipalId, createdAtMs, madeUnder }
    : undefined;
}

const unreadDefinitions = "a server's earlier definitions cannot be read: its tools are seen as new";

const loadLearned = async () => await import("./learned-file.ts");

/** Stores everything in files of the data directory, which only their owner can read. */
export const fileBackend: StoreBackend = {
  open({ dataDir, vaultKey, startTimeOf }: StoreOptions) {
    return {
      lock: {
        claim: async (serves, version) => await claimPlace({ dataDir, serves, version, startTimeOf }),
        list: async () => (await listGateways({ dataDir, startTimeOf })).map(({ holder }) => holder),
        placeOf: (serves) => placeOf(dataDir, serves),
        prepare: async (serves) => await makePlace(dataDir, placeOf(dataDir, serves), serves),
      },
      async secrets(shared) {
        const { createLoginSealing, createTokenVault } = await import("./token-vault.ts");
        const options = { directory: dataDir, key: vaultKey };
        const files = createTokenVault(options);
        if (shared === undefined) return files;
        const { createSharedVault } = await import("./shared-vault.ts");
        return createSharedVault({ ...shared, sealing: createLoginSealing(options), files, now: Date.now });
      },
      at: (place, log) =>
        openGatewayStore(place, log, {
          auditKey: async () => await auditKeyOf(dataDir, vaultKey),
          secrets: async () => await secretsOf(dataDir, vaultKey),
          keys: vaultKey,
          driverFolder: join(dataDir, "sqlite"),
        }),
    };
  },
};

/**
 * A key of its own, made from the key of logins: the holder of a copy of the database cannot forge its audit. The chain
 * outlives a change of the key: the audit key that was made from the one before is kept, sealed with the new one.
 */
async function auditKeyOf(dataDir: string, source: KeySource): Promise<Uint8Array> {
  const key = await createVaultKey(dataDir, source).load(true);
  if (key === undefined) throw new Error("a key that was to be made is not there");
  const path = join(dataDir, "audit.key");
  const before = await previousKey(dataDir, source)?.load(true);
  const kept = await readFile(path).catch(() => undefined);
  if (kept !== undefined) {
    const known = unseal(key, kept, auditBinding);
    if (known !== undefined) return new Uint8Array(known);
  }
  if (before === undefined) return toAuditKey(key);
  const older = (kept && unseal(before, kept, auditBinding)) ?? toAuditKey(before);
  await replaceFile(path, seal(key, Buffer.from(older), auditBinding));
  return new Uint8Array(older);
}

async function secretsOf(dataDir: string, source: KeySource): Promise<readonly Uint8Array[]> {
  const keys = [createVaultKey(dataDir, source), previousKey(dataDir, source)];
  return (await Promise.all(keys.map(async (key) => await key?.load(true)))).filter((key) => key !== undefined);
}

const auditBinding = "toolyard audit key";

function toAuditKey(key: Buffer): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", "toolyard audit", 32));
}

/** What all gateways of a data directory share for their records. */
interface SharedForRecords {
  readonly auditKey: () => Promise<Uint8Array>;
  readonly secrets: GatewayStore["secrets"];
  readonly driverFolder: string;
  readonly keys: KeySource;
}

function openGatewayStore(folder: string, log: Log, shared: SharedForRecords): GatewayStore {
  const warnOf = (operation: string, message: string) => (error: unknown) =>
    log.warn({ component: "store", operation, err: error }, message);
  return {
    catalogs: createCatalogFiles(join(folder, "catalog"), (message) => log.warn({ component: "store" }, message)),
    ...createLetIn(folder, log, warnOf),
    async keptSearches() {
      return createKeptSearchesFile(
        join(folder, "kept-searches.json"),
        warnOf(
          "kept-searches",
          "searches that are kept as tests cannot be read, and were set aside: there are none until one is kept",
        ),
      );
    },
    async approvals() {
      return createApprovalsFile(
        join(folder, "approvals.json"),
        warnOf("approvals", "approvals cannot be read, and were set aside: every call that needs a yes asks again"),
      );
    },
    definitions: createDefinitionFiles(join(folder, "definitions"), warnOf("definitions", unreadDefinitions)),
    pins: createPinsFile(
      join(folder, "pins.json"),
      warnOf("pins", "pinned tools cannot be read, and were set aside: those of the configuration hold"),
    ),
    namespaceUsage: createNamespaceUsageFile(
      join(folder, "namespace-usage.json"),
      warnOf("namespace-usage", "the use of namespaces cannot be saved"),
    ),
    tokenCounts: createTokenCountsFile(
      join(folder, "token-counts.json"),
      warnOf("token-counts", "counts of tokens cannot be saved, and are made again after a restart"),
    ),
    spill: () =>
      createSpillFiles(
        join(folder, "results"),
        warnOf("results", "kept results of an earlier gateway stay on the disk"),
      ),
    async records({ clock, redact, keepMs, keepCalls, keepAuditMs, database }) {
      const [{ createSqlStore }, key] = await Promise.all([import("../sql/client/sql-store.ts"), shared.auditKey()]);
      const keep = { requestMs: keepMs, requests: keepCalls, auditMs: keepAuditMs };
      const { driverFolder } = shared;
      return createSqlStore({ folder, database, driverFolder, auditKey: key, redact, clock, keep });
    },
    cluster: async (options) => await openCluster(shared, options),
    secrets: shared.secrets,
    keyRing: async (mayCreate) => await openKeyRing(folder, shared.keys, mayCreate),
    async learned() {
      const { createLearnedFile } = await loadLearned();
      const onFailure = warnOf("learned", "what searches learned from use cannot be saved");
      return createLearnedFile(join(folder, "learned.json"), onFailure);
    },
    async phrases() {
      const { createLearnedFile } = await loadLearned();
      const onFailure = warnOf("phrases", "phrases that a model wrote cannot be kept");
      return createLearnedFile(join(folder, "phrases.json"), onFailure);
    },
    vectors: async (model) => await openVectors(folder, model, warnOf("vectors", "vectors of tools cannot be saved")),
  };
}

async function openVectors(folder: string, model: string, onFailure: (error: unknown) => void) {
  const { createVectorFile } = await import("./vector-file.ts");
  const file = createVectorFile({ path: join(folder, "vectors.bin"), model, onFailure });
  await file.load();
  return file;
}

/** Connections of its own, in the thread that serves: one that hangs must lose its lease. */
async function openCluster({ auditKey }: SharedForRecords, options: Parameters<GatewayStore["cluster"]>[0]) {
  const load = async () => await Promise.all([import("../sql/postgres/cluster-database.ts"), import("pg"), auditKey()]);
  const [{ openClusterDatabase }, { default: pg }, key] = await load();
  return { store: openClusterDatabase(pg, options), key };
}

type WarnOf = (operation: string, message: string) => (error: unknown) => void;

/** Those who are let in by something else than the configuration, or people of the database. */
function createLetIn(
  folder: string,
  log: Log,
  warnOf: WarnOf,
): Pick<GatewayStore, "tokens" | "sharedTokens" | "browserSessions"> {
  const tokens = createInstanceTokensFile(join(folder, "instance-tokens.json"), (error) =>
    log.error(
      { component: "store", operation: "instance-tokens", err: error },
      "instance tokens cannot be read: none is valid",
    ),
  );
  return {
    tokens,
    async sharedTokens({ items, teamOf }) {
      const { openSharedList } = await import("./shared-lists.ts");
      const list = await openSharedList<InstanceTokenRecord>({
        ...{ items, kind: "instance-token", idOf: ({ hash }) => hash, parse: parseToken },
        teamOf: ({ principal }) => teamOf(principal),
        onFailure: warnOf("instance-tokens", "tokens for an instance cannot be read from the database"),
      });
      const own = tokens.read();
      if (own.length === 0) return list;
      await list.write({ added: own });
      await tokens.write([]);
      return list;
    },
    async browserSessions(shared) {
      const { createBrowserSessionsFile, shareBrowserSessions } = await import("./browser-sessions-file.ts");
      const onFailure = warnOf(
        "browser-sessions",
        "logins of browsers cannot be read or saved, and end with the gateway",
      );
      const file = createBrowserSessionsFile(join(folder, "browser-sessions.json"), onFailure);
      return shared === undefined ? file : await shareBrowserSessions(file, shared, onFailure);
    },
  };
}

/** Opens the store of a data directory, for gateways and commands alike. */
export function openStore(options: Omit<StoreOptions, "startTimeOf">): Store {
  return fileBackend.open({ ...options, startTimeOf: readStartTime });
}

/**
 * Texts that are kept for minutes, each in a file of its own that only its owner may read. What an earlier process
 * left there is removed at once.
 */
export function createSpillFiles(folder: string, onFailure: (error: unknown) => void): SpillStore {
  const emptied = rm(folder, { recursive: true, force: true }).catch(onFailure);
  let made: Promise<unknown> | undefined;
  const pathOf = (id: string): string => join(folder, `${id}.txt`);
  return {
    async write(id, text) {
      await (made ??= emptied.then(async () => await mkdir(folder, { recursive: true, mode: 0o700 })));
      // No fsync: it is of no use to a later process.
      await writeFile(pathOf(id), text, { mode: 0o600 });
    },
    read: async (id) => await readFile(pathOf(id)).catch(() => undefined),
    remove(id) {
      if (made !== undefined) rm(pathOf(id), { force: true }).catch(onFailure);
    },
    async [Symbol.asyncDispose]() {
      await emptied;
      if (made === undefined) return;
      await made.catch(() => undefined);
      await rm(folder, { recursive: true, force: true }).catch(onFailure);
    },
  };
}

/**
 * Keeps the definitions of servers in one file per owner in `directory`. A file that cannot be read counts
 * as absent, which is reported to `onFailure`.
 */
function createDefinitionFiles(directory: string, onFailure: (error: unknown) => void): DefinitionStore {
  // Owners have addresses in them, which may be secret.
  const pathOf = (owner: string): string => {
    const [name = ""] = owner.replace(/[^A-Za-z0-9_\n-]/g, "_").split("\n");
    return join(
      directory,
      `${name.slice(0, 60)}-${createHash("sha256").update(owner).digest("hex").slice(0, 16)}.jsonl`,
    );
  };

  return {
    async read(owner) {
      try {
        return await readFile(pathOf(owner), "utf8");
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) onFailure(error);
        return undefined;
      }
    },
    async write(owner, text) {
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await replaceFile(pathOf(owner), text);
      } catch (error) {
        const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
        throw new GatewayError(isFull ? "STORE_FULL" : "STORE_UNAVAILABLE", "definitions cannot be written", {
          cause: error,
        });
      }
    },
  };
}
