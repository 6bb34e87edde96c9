import { question, type Asked } from "./question.ts";

export const databaseNames = ["records", "state"] as const;
export type DatabaseName = (typeof databaseNames)[number];

export const upkeepQuestions = {
  /**
   * Writes the state as it is at one moment into a file of mode 0600, which replaces one that is there only when it is
   * whole. Others read and write meanwhile. Records are not in it.
   */
  backup: question<string, WrittenBackup>(),
  /** The same into a file beside the state, which the next one replaces: for a caller that reads it and removes it. */
  backupAside: question<void, WrittenBackup>(),
  /**
   * Puts a backup in the place of the state, which is kept as `kept`. Only a command may call this: a running gateway
   * keeps the old state in its memory. A backup of a newer version is refused, and nothing changes.
   */
  restore: question<string, { readonly kept: string | null }>(),
  /** Looks through the databases, whatever is wrong with them. */
  check: question<void, readonly DatabaseCheck[]>(),
};

/** Paths are absolute. Rejects with BACKUP_UNUSABLE, which says why, and as the rest does. */
export type StoreUpkeep = Asked<typeof upkeepQuestions>;

export interface WrittenBackup {
  readonly path: string;
  readonly bytes: number;
}

/** The state of one database. */
export interface DatabaseCheck {
  readonly database: DatabaseName;
  /** The file, or the server's name without a password. */
  readonly place: string;
  /** What it is, such as `SQLite 3.51.3`. */
  readonly engine: string;
  readonly bytes: number;
  /** Steps of its schema, the newest last. */
  readonly steps: readonly string[];
  /** One sentence each; none where it is in order. */
  readonly faults: readonly string[];
}
