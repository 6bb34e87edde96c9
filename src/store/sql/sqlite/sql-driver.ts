import { binaryForMachine, binaryPackage, type BinaryPlaces } from "./packed-sqlite.ts";

/** What we use of a SQLite driver. `node:sqlite` and `@photostructure/sqlite` have it in the same form. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

/** Holds its database: a driver that collects the database while a statement is used ends the process. */
export interface SqlStatement {
  readonly database: SqlDatabase;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  /** Returns how many rows it changed. */
  run(...values: readonly SqlValue[]): number;
}

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlDriver {
  /** `node:sqlite` or the package's name. */
  readonly name: string;
  readonly version: string;
  open(path: string): SqlDatabase;
}

/**
 * The oldest SQLite that is safe here. Those before can damage a database in WAL mode when two connections write and
 * checkpoint at once.
 */
const oldestVersion = "3.51.3";

/** The part of a driver's module that is used. */
interface DriverModule {
  readonly DatabaseSync?: DriverDatabase;
}
type DriverDatabase = new (
  path: string,
  options?: { readonly timeout?: number },
) => {
  exec(sql: string): void;
  prepare(sql: string): DriverStatement;
  close(): void;
};
interface DriverStatement {
  all(...values: readonly SqlValue[]): SqlRow[];
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
}

/** No driver, or only old ones. The message says which were tried. */
export class DriverMissing extends Error {
  override readonly name = "DriverMissing";
}

/** There is one, and no room on the disk to unpack it. */
export class NoRoomForDriver extends Error {
  override readonly name = "NoRoomForDriver";
}

/**
 * Node's own SQLite where it is new enough, otherwise the one that comes with us, which is unpacked into `folder` if
 * that is necessary. Throws DriverMissing or NoRoomForDriver.
 */
export function loadDriver(folder: string, packed?: URL): SqlDriver {
  const tried: string[] = [];
  for (const [name, load] of sources) {
    try {
      const module = load({ folder, packed });
      const driver = module === undefined ? undefined : toDriver(name, module);
      if (driver === undefined) tried.push(`${name} is not in Node ${process.versions.node}`);
      else if (isOlder(driver.version, oldestVersion)) tried.push(`${name} has SQLite ${driver.version}`);
      else return driver;
    } catch (error) {
      if (lacksRoom(error)) throw new NoRoomForDriver(`there is no room on the disk to unpack SQLite into ${folder}`);
      const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
      tried.push(`${name} cannot be loaded (${reason})`);
    }
  }
  throw new DriverMissing(`no SQLite ${oldestVersion} or newer: ${tried.join("; ")}`);
}

/** Of the file system: on Linux and macOS a quota has a code of its own. */
function lacksRoom(error: unknown): boolean {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return code === "ENOSPC" || code === "EDQUOT";
}

const sources: readonly (readonly [string, (places: BinaryPlaces) => DriverModule | undefined])[] = [
  // Loading it prints a warning on Node 22; the worker's stderr is not read.
  ["node:sqlite", () => process.getBuiltinModule("node:sqlite") as DriverModule | undefined],
  [binaryPackage, (places) => loadBinary(binaryForMachine(places))],
];

/** What the package's own JavaScript adds to its binary is not used, so that none of it has to be installed. */
export function loadBinary(path: string): DriverModule {
  const module: { exports: DriverModule } = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

function toDriver(name: string, module: DriverModule): SqlDriver | undefined {
  const Database = module.DatabaseSync;
  if (Database === undefined) return undefined;
  const open = (path: string): SqlDatabase => {
    const inner = new Database(path, { timeout: 5_000 });
    const database: SqlDatabase = {
      exec: (sql) => inner.exec(sql),
      prepare: (sql) => toStatement(database, inner.prepare(sql)),
      close: () => inner.close(),
    };
    return database;
  };
  const memory = open(":memory:");
  const version = String(memory.prepare("select sqlite_version() as version").get()?.["version"]);
  memory.close();
  return { name, version, open };
}

function toStatement(database: SqlDatabase, inner: DriverStatement): SqlStatement {
  return {
    database,
    all: (...values) => inner.all(...values),
    get: (...values) => inner.get(...values),
    run: (...values) => Number(inner.run(...values).changes),
  };
}

/** Whether one version of three numbers is older than another. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(".").map(Number));
  for (const [place, number] of (right ?? []).entries()) {
    const other = left?.[place] ?? 0;
    if (other !== number) return other < number;
  }
  return false;
}

/** SQLite's primary result code of what a driver threw; undefined for anything else. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

/** SQLITE_IOERR_SHMSIZE: the memory that connections share is a file beside the database, and cannot grow either. */
const noSharedRoom = 4_874;

/** Whether the disk is full. */
export function isOutOfRoom(error: unknown): boolean {
  if (sqliteCode(error) === sqliteCodes.full) return true;
  return error instanceof Error && "errcode" in error && error.errcode === noSharedRoom;
}

export const sqliteCodes = {
  readonly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  constraint: 19,
  mismatch: 20,
  notDatabase: 26,
};
