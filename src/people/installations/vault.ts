import { randomBytes } from "node:crypto";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { DataKeyRow, InstallRows, InstallWrites, SecretRow } from "../../store/install-rows.ts";
import type { KeyRing, WrappingKey } from "../../store/store.ts";

/** What seals and opens, of the store's primitives. */
export interface Sealing {
  seal(key: Buffer, content: string, bound: string): Buffer;
  unseal(key: Buffer, sealed: Buffer, bound: string): Buffer | undefined;
}

/**
 * The secrets of teams, sealed with one key per team, which is wrapped with the gateway's. A plain text leaves it only
 * by `open`; the vault keeps none.
 */
export interface Vault {
  /** Keys in the database as they are now. */
  apply(writes: Pick<InstallWrites, "dataKeys" | "goneDataKeys">): void;
  /**
   * A row with a new value, and the team's key where it has none yet. Rejects with CONFIG_INVALID when the gateway's
   * key cannot be read, and with SECRET_UNREADABLE when the team's key does not open.
   */
  seal(row: Omit<SecretRow, "sealed" | "keyId">, text: string): Promise<Pick<InstallWrites, "secrets" | "dataKeys">>;
  /** Throws SECRET_UNREADABLE. */
  open(row: SecretRow): string;
  /** What has to be applied to have these keys and no others. */
  differenceTo(rows: Pick<InstallRows, "dataKeys">): Pick<InstallWrites, "dataKeys" | "goneDataKeys">;
  /**
   * Reads the gateway's key, if anything was sealed with it; again where something was sealed with another one, which
   * may be there by now. Resolves to why something cannot be opened.
   */
  unlock(): Promise<GatewayError | undefined>;
  /** Whether keys of teams are encrypted with a key that is not here, even where they are open from before. */
  readonly isOutdated: boolean;
  /** Whether an earlier rotation has to be finished. */
  readonly isRotating: boolean;
  /** All teams' keys, wrapped with the next key: to be written, then `finishRotation`. */
  rewrap(): Promise<readonly DataKeyRow[]>;
  finishRotation(): Promise<void>;
  /** The same values under a new key of their team: to be written at once, or not at all. */
  reseal(teamId: string, secrets: readonly SecretRow[]): Promise<InstallWrites>;
}

export interface VaultDeps {
  readonly sealing: Sealing;
  /** Rejects when there is no key and none may be made. */
  readonly openRing: (mayCreate: boolean) => Promise<KeyRing>;
  readonly newId: (prefix: string) => string;
  readonly now: () => number;
}

export function createVault(deps: VaultDeps): Vault {
  const { sealing } = deps;
  const keys = createTeamKeys(deps);

  function unsealed(row: SecretRow): string {
    const text = sealing.unseal(keys.opened(row.keyId), Buffer.from(row.sealed, "base64"), boundSecret(row));
    if (text === undefined) throw unreadable("it was changed, or belongs elsewhere");
    return text.toString("utf8");
  }

  return {
    apply: keys.apply,
    differenceTo: keys.differenceTo,
    unlock: keys.unlock,
    rewrap: keys.rewrap,
    finishRotation: keys.finishRotation,
    get isRotating() {
      return keys.isRotating;
    },
    get isOutdated() {
      return keys.isOutdated();
    },
    async seal(row, text) {
      const { row: keyRow, key, isNew } = await keys.forTeam(row.teamId);
      const sealed = sealing.seal(key, text, boundSecret(row)).toString("base64");
      return { secrets: [{ ...row, sealed, keyId: keyRow.id }], ...(isNew ? { dataKeys: [keyRow] } : {}) };
    },
    open: unsealed,
    async reseal(teamId, secrets) {
      const { row, key } = await keys.fresh(teamId);
      const resealed = secrets.map((secret) => ({
        ...secret,
        sealed: sealing.seal(key, unsealed(secret), boundSecret(secret)).toString("base64"),
        keyId: row.id,
      }));
      return { dataKeys: [row], secrets: resealed, goneDataKeys: keys.idsOf(teamId) };
    },
  };
}

interface TeamKey {
  readonly row: DataKeyRow;
  readonly key: Buffer;
}

/** The keys of teams, unwrapped when they are first needed. */
function createTeamKeys({ openRing, newId, now }: Omit<VaultDeps, "sealing">) {
  const rows = new Map<string, DataKeyRow>();
  /** Unwrapped, by id. */
  const open = new Map<string, Buffer>();
  /** Keys of teams that had none, until the first secret of each is written. */
  const coming = new Map<string, TeamKey>();
  let ring: KeyRing | undefined;
  let problem: GatewayError | undefined;

  async function ringFor(): Promise<KeyRing> {
    return (ring ??= await openRing(rows.size === 0));
  }

  function keyOf(row: DataKeyRow | undefined): Buffer {
    const known = row && open.get(row.id);
    if (known !== undefined) return known;
    if (row === undefined) throw unreadable("its team's key is not there");
    if (ring === undefined) throw unreadable(problem?.message ?? "the gateway's key is not read yet");
    const wrapping = ring.find(row.kek);
    if (wrapping === undefined)
      throw differs("a key of a team is encrypted under another key than the gateway has now");
    const key = wrapping.unwrap(row.wrapped, boundKey(row));
    if (key === undefined) throw unreadable("its team's key was changed");
    open.set(row.id, key);
    return key;
  }

  const isOutdated = (): boolean => lacksKey(ring, rows);

  return {
    apply({ dataKeys = [], goneDataKeys = [] }: Pick<InstallWrites, "dataKeys" | "goneDataKeys">): void {
      for (const row of dataKeys) {
        rows.set(row.id, row);
        const made = coming.get(row.teamId);
        if (made?.row.id === row.id) open.set(row.id, made.key);
        coming.delete(row.teamId);
      }
      for (const id of goneDataKeys) for (const keys of [rows, open]) keys.delete(id);
    },
    differenceTo: (given: Pick<InstallRows, "dataKeys">) => keyDifference(rows, given),
    opened: (id: string): Buffer => keyOf(rows.get(id)),
    idsOf: (teamId: string) => [...rows.values()].filter((old) => old.teamId === teamId).map(({ id }) => id),
    fresh: async (teamId: string): Promise<TeamKey> => makeKey({ newId, now }, teamId, (await ringFor()).current),
    async forTeam(teamId: string): Promise<TeamKey & { readonly isNew: boolean }> {
      const { current } = await ringFor();
      const known = [...rows.values()].find((row) => row.teamId === teamId);
      // The others could not open texts that are wrapped with a key that they do not have any more.
      if (known === undefined && isOutdated()) throw differs("another gateway uses another key than this one");
      return known === undefined
        ? { ...comingFor(coming, { newId, now }, teamId, current), isNew: true }
        : { row: known, key: keyOf(known), isNew: false };
    },
    isOutdated,
    async unlock(): Promise<GatewayError | undefined> {
      problem = undefined;
      if (rows.size === 0) return undefined;
      try {
        await ringFor();
        if (isOutdated()) ring = await openRing(false);
        for (const row of rows.values()) keyOf(row);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        problem = error;
      }
      return problem;
    },
    get isRotating(): boolean {
      return ring?.isRotating === true;
    },
    async rewrap(): Promise<readonly DataKeyRow[]> {
      const next = await (await ringFor()).next();
      return [...rows.values()].map((row) =>
        row.kek === next.id ? row : { ...row, kek: next.id, wrapped: next.wrap(keyOf(row), boundKey(row)) },
      );
    },
    finishRotation: async (): Promise<void> => await ring?.adopt(),
  };
}

function comingFor(
  coming: Map<string, TeamKey>,
  { newId, now }: Pick<VaultDeps, "newId" | "now">,
  teamId: string,
  wrapping: WrappingKey,
): TeamKey {
  const known = coming.get(teamId);
  // One that was made before a rotation is wrapped with a key that may no longer exist.
  const made = known?.row.kek === wrapping.id ? known : makeKey({ newId, now }, teamId, wrapping);
  coming.set(teamId, made);
  return made;
}

function keyDifference(
  rows: ReadonlyMap<string, DataKeyRow>,
  { dataKeys }: Pick<InstallRows, "dataKeys">,
): Pick<InstallWrites, "dataKeys" | "goneDataKeys"> {
  const kept = new Set(dataKeys.map(({ id }) => id));
  return { dataKeys, goneDataKeys: [...rows.keys()].filter((id) => !kept.has(id)) };
}

function lacksKey(ring: KeyRing | undefined, rows: ReadonlyMap<string, DataKeyRow>): boolean {
  return ring !== undefined && [...rows.values()].some(({ kek }) => ring.find(kek) === undefined);
}

function makeKey({ newId, now }: Pick<VaultDeps, "newId" | "now">, teamId: string, wrapping: WrappingKey): TeamKey {
  const key = randomBytes(32);
  const about = { id: newId("k_"), teamId };
  const row = { ...about, wrapped: wrapping.wrap(key, boundKey(about)), kek: wrapping.id, createdAtMs: now() };
  return { row, key };
}

/** What a value is bound to: a row that somebody moves to another team, row, field or version does not open. */
function boundSecret({ teamId, id, field, version }: Pick<SecretRow, "teamId" | "id" | "field" | "version">): string {
  return [teamId, "secret", id, field, version].join("|");
}

function boundKey({ teamId, id }: Pick<DataKeyRow, "teamId" | "id">): string {
  return [teamId, "data_key", id, "wrapped", 1].join("|");
}

function differs(what: string): GatewayError {
  return new GatewayError("KEY_DIFFERS", what);
}

function unreadable(why: string): GatewayError {
  return new GatewayError("SECRET_UNREADABLE", `a secret cannot be opened: ${why}`);
}
