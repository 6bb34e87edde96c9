import { join } from "node:path";
import type { StoreProblem, StoreProblemKind } from "../../record-store.ts";
import type { DatabaseName } from "../../store-upkeep.ts";
import type { Migrations } from "./migrate.ts";
import { NewerSchema } from "./migrate.ts";
import { setAside } from "../../quarantine.ts";
import { isDamage, openSqliteFile, type SqliteFile } from "./sqlite-file.ts";
import { isOutOfRoom, type SqlDatabase, type SqlDriver } from "./sql-driver.ts";

/**
 * Keeps one database usable: opens it, notices what happens to its file, and opens it again where that helps. While
 * it cannot be used it has a problem, which everything that needs it is told.
 */
export interface DatabaseKeeper<Opened> {
  /** Undefined while it cannot be used. On a full disk it still can: to read, and to delete. */
  readonly opened: Opened | undefined;
  readonly problem: StoreProblem | undefined;
  /** While a damaged file makes way for a new one: who has rows to write waits for it. Never rejects. */
  readonly makingWay: Promise<void> | undefined;
  open(): Promise<void>;
  /** Looks whether the file is still there, and tries again what failed. Call it every few seconds. */
  look(): Promise<void>;
  /** Where the file is, whether it can be used or not. */
  readonly path: string;
  /** What to do after a statement failed. Never rejects. */
  onError(error: unknown): Promise<void>;
  close(): void;
}

export interface KeeperOptions<Opened> {
  readonly driver: SqlDriver;
  readonly folder: string;
  readonly name: DatabaseName;
  readonly synchronous: "full" | "normal";
  readonly migrations: Migrations;
  /** Whether a damaged or replaced file may be left behind for a new one. */
  readonly isDisposable: boolean;
  /** Prepares what works on the open database. */
  readonly prepare: (database: SqlDatabase) => Opened;
  readonly onProblem: () => void;
  /** On a full disk: to make room, and to say whether there is enough to go on. */
  readonly room: { readonly free: () => void; readonly isEnough: (database: SqlDatabase) => boolean };
}

export function createKeeper<Opened>(options: KeeperOptions<Opened>): DatabaseKeeper<Opened> {
  const { folder, name, isDisposable, prepare, room } = options;
  const path = join(folder, `${name}.db`);
  const trouble = createTrouble(options);
  let file: SqliteFile | undefined;
  let opened: Opened | undefined;
  let makingWay: Promise<void> | undefined;

  function close(): void {
    opened = undefined;
    try {
      file?.close();
    } catch {
      // A damaged one may not be closed in order.
    }
    file = undefined;
  }

  async function open(): Promise<void> {
    close();
    try {
      file = await openSqliteFile({ ...options, path });
      opened = prepare(file.database);
      trouble.clear();
    } catch (error) {
      await fail(error);
    }
  }

  /** Closes it; a damaged one that may be left behind makes way for a new one. */
  async function fail(error: unknown): Promise<void> {
    close();
    trouble.set(toProblem(error, path));
    // A second damaged one within a moment is not the file's fault.
    if (trouble.problem?.kind !== "damaged" || !isDisposable || makingWay !== undefined) return;
    makingWay = makeWay();
    await makingWay;
    makingWay = undefined;
  }

  async function makeWay(): Promise<void> {
    try {
      setAside(path, Date.now());
      await open();
    } catch (cause) {
      trouble.set({ kind: "failed", message: `${path} is damaged and cannot be renamed: ${String(cause)}` });
    }
  }

  return {
    get opened() {
      return trouble.problem === undefined || trouble.problem.kind === "full" ? opened : undefined;
    },
    get problem() {
      return trouble.problem;
    },
    path,
    get makingWay() {
      return makingWay;
    },
    open,
    async look() {
      if (file === undefined) {
        // Only a new start mends the others: somebody has to put another file there.
        if (trouble.problem?.kind === "full" || trouble.problem?.kind === "failed") await open();
      } else if (!file.isInPlace()) {
        trouble.set({ kind: "replaced", message: `${path} was deleted or replaced while it was open` });
        if (isDisposable) await open();
      } else if (trouble.problem?.kind === "replaced") trouble.clear();
      else if (trouble.problem?.kind === "full" && room.isEnough(file.database)) trouble.clear();
    },
    async onError(error) {
      const next = toProblem(error, path);
      // It can still be read, and old rows deleted.
      if (next.kind === "full") trouble.set(next);
      else await fail(error);
    },
    close,
  };
}

/** The problem of a database, and its consequences. */
interface Trouble {
  readonly problem: StoreProblem | undefined;
  set(what: Pick<StoreProblem, "kind" | "message">): void;
  clear(): void;
}

function createTrouble<Opened>({ name, isDisposable, onProblem, room }: KeeperOptions<Opened>): Trouble {
  let problem: StoreProblem | undefined;
  return {
    get problem() {
      return problem;
    },
    set({ kind, message }) {
      if (problem?.kind === kind && problem.message === message) return;
      if (kind === "full") room.free();
      problem = { database: name, kind, message, hint: hintOf(kind, name, isDisposable) };
      onProblem();
    },
    clear() {
      if (problem === undefined) return;
      problem = undefined;
      onProblem();
    },
  };
}

function toProblem(error: unknown, path: string): Pick<StoreProblem, "kind" | "message"> {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof NewerSchema)
    return { kind: "newer", message: `${path} was written by a newer version of Toolyard: ${reason}` };
  if (isDamage(error)) return { kind: "damaged", message: `${path} is damaged: ${reason}` };
  if (isOutOfRoom(error)) return { kind: "full", message: `there is no room on the disk for ${path}` };
  return { kind: "failed", message: `${path} cannot be used: ${reason}` };
}

function hintOf(kind: StoreProblemKind, name: DatabaseName, isDisposable: boolean): string {
  switch (kind) {
    case "full":
      return "Make room on that disk: the gateway goes on by itself. Until then records are dropped and counted.";
    case "damaged":
      return isDisposable
        ? "Records begin anew; the damaged file is kept beside them until two more are."
        : `Stop the gateway, put a backup of ${name}.db in its place (${name}.db.before-* are copies), and start it.`;
    case "newer":
      return "Start the newer version of Toolyard, or stop it and put back the copy that it made before it changed the file.";
    case "replaced":
      return isDisposable
        ? "Records go on in the file that is there now."
        : "Put the file back if it was moved by mistake; otherwise restart the gateway. Nothing is written to a " +
            "file that is gone.";
    case "worker":
    case "driver":
    case "away":
    case "failed":
      return `Look at what the message says of ${name}.db; the gateway tries again every few seconds.`;
  }
}
