import type {
  AuditEntry,
  AuditRow,
  EventRecord,
  LogLevel,
  RequestOutcome,
  RequestRecord,
  ServerLogLine,
  SessionRecord,
  SpentDay,
  ToolMetadata,
  ToolMetadataRow,
  UsageFigures,
  UsageHour,
} from "./record-rows.ts";
import type { InstallRows, InstallWrites, SecretUse } from "./install-rows.ts";
import { question, type Asked } from "./question.ts";
import type { ClaimStore, SharedItems } from "./shared.ts";
import type { DatabaseName, StoreUpkeep } from "./store-upkeep.ts";
import type { PinStore } from "../catalog/discovery/pins.ts";
import type { MemberSearchStore } from "../catalog/discovery/kept-searches.ts";
import type { AccessOfPeople } from "./access-rows.ts";
import type { AccessStore } from "./access-store.ts";
import type { PatUse, PeopleRows, PeopleWrites } from "./people-rows.ts";
import type { ApprovalStore } from "./approval-rows.ts";

/**
 * What a gateway remembers of what happened. Records are written behind the calls, in batches, and may be lost: those
 * of the last batch when the process is killed, and those that do not fit when more come than can be written; lost
 * ones are counted. The audit is never lost: it is written when its promise resolves.
 *
 * Every query and every `audit` rejects with GatewayError STORE_UNAVAILABLE while the database cannot be used (the
 * hint says what to do), and with DRAINING after `close`. None of them ever blocks the thread that asks.
 */
export interface RecordStore extends Asked<typeof recordQuestions> {
  /** Whether other gateways write to it as well. */
  readonly isShared: boolean;
  /** The id of the next row: higher than all before, also of earlier lives of this store. Costs no allocation. */
  nextId(): number;
  /**
   * Hands one row over. Returns at once and never throws: false when the row was dropped (and counted), because the
   * queue is full, the database cannot be used, or the store is closed. Rows of one kind are written in this order.
   */
  append<Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]): boolean;
  /** Resolves when every row that was handed over before is written, or dropped. Never rejects. */
  flush(): Promise<void>;
  /** Resolves with its place in the chain when it is on the disk. Rejects with STORE_FULL when the disk is full. */
  audit(entry: AuditEntry): Promise<AuditPlace>;

  /** People who are kept here, and not in the configuration. */
  readonly people: PeopleStore;
  readonly access: AccessStore;
  /** Servers of teams, which are kept beside them. */
  readonly installs: InstallStore;
  /** Searches that members of teams keep as tests. Rejects as the rest does. */
  readonly keptSearches: MemberSearchStore;
  /** Tools that members of teams pinned for themselves. */
  readonly pins: PinStore;

  /** Calls that wait for a yes, where the database is shared; a gateway that is alone keeps them in a file. */
  readonly approvals: ApprovalStore;
  /** What gateways of one database share; one that is alone keeps it in files. */
  readonly shared: SharedItems;

  /** What happens once over all gateways of the database. */
  readonly claims: ClaimStore;

  /** What an administrator does with the databases themselves. */
  readonly upkeep: StoreUpkeep;

  /** The same object until something changes. Costs nothing. */
  health(): StoreHealth;
  /** Calls back after `health().problems` changed, or the store became ready. Returns what ends that. */
  onHealth(listener: (health: StoreHealth) => void): () => void;
  /** Calls back when a database has lost changes that were known here: after a failover to a standby that lagged. */
  onLoss(listener: () => void): () => void;
  /**
   * Calls back when nothing was handed over or asked for a while, and the store would give back its memory: the moment
   * to hand over sums that are kept elsewhere, instead of waking it later for that. Returns what ends it.
   */
  onRest(listener: () => void): () => void;
  /** Figures that change with every batch, for metrics. */
  figures(): StoreFigures;

  /**
   * Writes what waits and closes both databases. Resolves when that is done, or after `deadlineMs`; what was not
   * written by then is counted as dropped. Again: the same promise.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Questions about records and the audit: each is a method of the store, by its name. */
export const recordQuestions = {
  /** Newest first. */
  calls: question<CallQuery, Page<CallRow>>(),
  /** Erases the calls of one page, with what was said in them. Sums of usage stay. */
  eraseCalls: question<CallQuery, ErasedCalls>(),
  /** By its id, with arguments and result where they were kept; undefined when there is no such row. */
  call: question<number, KeptRequest | undefined>(),
  /** Newest first. */
  logs: question<LogQuery, Page<ServerLogLine>>(),
  /** Newest first. */
  events: question<EventQuery, Page<EventRecord>>(),
  /**
   * Sums of the written hours, in the order of `by`. At most `limit` groups, those with most calls, when `by` has no
   * time in it; otherwise the earliest. The caller adds the figures that are not written yet.
   */
  usage: question<UsageQuery, readonly UsageSum[]>(),
  /** The known metadata of the tools of one installation, by path. */
  tools: question<string, readonly ToolMetadataRow[]>(),
  /** What finding tools saved and cost, of the sessions since `fromMs` and of one day. */
  finding: question<FindingQuery, FindingRows>(),
  /** As `audit`, of several entries at once, which costs one write to the disk: all of them are written, or none. */
  auditAll: question<readonly AuditEntry[], readonly AuditPlace[]>(),
  /** Newest first. */
  audits: question<AuditQuery, Page<AuditRow>>(),
  /** Reads the whole chain, in pieces, between other work. */
  verifyAudit: question<void, AuditVerdict>(),
};

/** The people of a gateway for teams. Rejects as the rest does, so that no one gets in while they cannot be read. */
export interface PeopleStore {
  read(): Promise<PeopleRows>;
  /**
   * Resolves when the change and its entry in the audit are on the disk. When it rejects, it is not known whether
   * they are, but either both are or none: read again. Rejects with STORE_BEHIND, and nothing is changed, when another
   * gateway changed people and this one had not heard of it.
   *
   * Rejects with LOGIN_EXPIRED, and nothing is changed, when a set-up link that it depends on was used before.
   */
  change(writes: PeopleWrites, entry: AuditEntry, access?: AccessOfPeople): Promise<AuditPlace>;
  /** After STORE_BEHIND: whether `onChange` has told what the others wrote, so that nothing has to be read. */
  isTold(): boolean;
  use(uses: readonly PatUse[]): Promise<void>;
  /**
   * Calls back when another gateway of the same database has changed people: with what it wrote, or with undefined
   * where everything has to be read again. Within a second, while the database can be reached. Returns what ends that.
   */
  onChange(listener: (writes: PeopleWrites | undefined) => void): () => void;
}

/** The servers of teams, with their sealed secrets. As for people. */
export interface InstallStore {
  read(): Promise<InstallRows>;
  change(writes: InstallWrites, entry: AuditEntry): Promise<AuditPlace>;
  use(uses: readonly SecretUse[]): Promise<void>;
  /** Calls back when another gateway of the same database has changed them: they are to be read again. */
  onChange(listener: () => void): () => void;
}

/** The place of an entry in the chain. */
export type AuditPlace = Pick<AuditRow, "seq" | "hash">;

/**
 * The kinds of rows that are written in batches, and the rows of each. `usage` adds, `tools`, `session` and `spent`
 * replace, the others append.
 */
export interface RecordRows {
  readonly request: RequestRecord;
  readonly log: ServerLogLine;
  readonly usage: UsageHour;
  readonly event: EventRecord;
  readonly tools: ToolMetadata;
  readonly session: SessionRecord;
  readonly spent: SpentDay;
}

export type RecordKind = keyof RecordRows;

export interface RecordStoreOptions {
  /** Where `records.db` and `state.db` lie: absolute, of mode 0700, held by this gateway alone. */
  readonly folder: string;
  /**
   * Key of the audit's chain, at least 32 bytes. Its holder can forge the chain; without it `verifyAudit` cannot judge.
   */
  readonly auditKey: Uint8Array;
  /**
   * Called just before rows leave the main thread: the place to take secrets out. Must not throw. Calls whose texts are
   * the same are represented by the first of them in their batch.
   */
  readonly redact: <Kind extends RecordKind>(kind: Kind, row: RecordRows[Kind]) => RecordRows[Kind];
}

/** A part of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /**
   * Give it as `before` to go on. Null at the end. There may be more although fewer rows came than asked for: a
   * filter that fits little is given up after `scanLimit` rows, so that no question holds the others up.
   */
  readonly next: number | null;
}

/** Rows that one page of a filtered list looks at, at most: 70 ms, twice that through an index. */
export const scanLimit = 200_000;

export interface PageQuery {
  /** 1 to 1,000. */
  readonly limit: number;
  /** Only rows with a lower id (audit: `seq`): the `next` of the page before. */
  readonly before?: number | undefined;
  /** Only rows with a higher id (audit: `seq`): to follow a list that grows. */
  readonly after?: number | undefined;
}

export interface TimeRange {
  /** Inclusive, ms. */
  readonly fromMs?: number | undefined;
  /** Exclusive, ms. */
  readonly toMs?: number | undefined;
}

/** Filters are joined by "and"; one that is undefined lets everything through. Texts are compared exactly. */
interface ServerFilter {
  readonly team?: string | undefined;
  readonly server?: string | undefined;
  readonly instance?: string | undefined;
}

interface InstallationFilter {
  /** All instances of an installation. */
  readonly installation?: string | undefined;
}

export interface CallQuery extends PageQuery, TimeRange, ServerFilter, InstallationFilter {
  readonly principal?: string | undefined;
  /** `RequestRecord.name`. */
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
  /** The node of a cluster that served it. */
  readonly node?: string | undefined;
  readonly outcome?: RequestOutcome | undefined;
  readonly code?: string | undefined;
  /** True: only those whose outcome is not `ok`. False: only those whose outcome is. */
  readonly failed?: boolean | undefined;
}

export interface ErasedCalls {
  readonly erased: number;
  /** Give it as `before` to go on. Null where nothing is left that fits. */
  readonly next: number | null;
}

/** A call as it was kept. */
export interface KeptRequest extends RequestRecord {
  /** Of what a team installed its id; otherwise the instance. */
  readonly installation: string;
}

/** A call in a list: without what was said in it. */
export interface CallRow extends Omit<KeptRequest, "body"> {
  /** Whether `call(id)` has arguments and result. */
  readonly hasBody: boolean;
}

export interface LogQuery extends PageQuery, TimeRange, ServerFilter {
  /** Of one of these instances. */
  readonly instances?: readonly string[] | undefined;
  /** This level and worse. */
  readonly level?: LogLevel | undefined;
  /** Lines that contain this, whatever the case of its letters; in SQLite, of A to Z alone. */
  readonly text?: string | undefined;
}

export interface EventQuery extends PageQuery, TimeRange, ServerFilter {
  readonly principal?: string | undefined;
  readonly type?: string | undefined;
}

export const usageDimensions = [
  "hour",
  "day",
  "team",
  "principal",
  "server",
  "instance",
  "installation",
  "tool",
  "client",
  "code",
] as const;
/** `hour` and `day` (of UTC) are given as ms, as text; the others as in `UsageHour`. */
export type UsageDimension = (typeof usageDimensions)[number];

export interface UsageQuery extends ServerFilter, InstallationFilter {
  /** Inclusive; rounded down to the hour. */
  readonly fromMs: number;
  /** Exclusive; rounded up to the hour. */
  readonly toMs: number;
  /** What the sums are grouped by, up to three of them; none gives one sum of everything. */
  readonly by: readonly UsageDimension[];
  readonly principal?: string | undefined;
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
  /** 1 to 10,000. */
  readonly limit: number;
}

export interface UsageSum extends UsageFigures {
  /** Values of `by`, in its order; null where rows have none. */
  readonly group: readonly (string | null)[];
  /** Calls whose `code` is not "". */
  readonly errors: number;
  /** When the latest hour with a call begins. */
  readonly lastHourMs: number;
}

export interface FindingQuery {
  readonly fromMs: number;
  /** Midnight of UTC. */
  readonly dayMs: number;
  readonly exposure: string;
  readonly principal?: string | undefined;
}

/** Sessions that are read at once, the newest. */
export const mostSessions = 10_000;

export interface FindingRows {
  /** Newest first. */
  readonly sessions: readonly SessionRecord[];
  readonly spent: readonly SpentDay[];
}

export interface AuditQuery extends PageQuery, TimeRange {
  readonly team?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditEntry["outcome"] | undefined;
}

/** The last of the entries that were removed because they were old. */
export interface AuditCheckpoint extends AuditPlace {
  /** When they were removed. */
  readonly atMs: number;
}

/**
 * Whether the chain is whole, from its beginning or from the `checkpoint`, behind which it goes on. `entries` are those
 * that were read and are in order; `brokenAt` is the first that was changed, or that follows one that is missing.
 */
export type AuditVerdict = { readonly entries: number; readonly checkpoint: AuditCheckpoint | null } & (
  | { readonly kind: "whole"; readonly last: string }
  | { readonly kind: "broken"; readonly brokenAt: number; readonly reason: string }
);

/** Whether the store can be used, for `/readyz`, status and the log. */
export interface StoreHealth {
  /** `opening` until both databases were tried; `closed` from `close` on. */
  readonly status: "opening" | "ready" | "degraded" | "closed";
  readonly problems: readonly StoreProblem[];
}

export interface StoreProblem {
  /** Which one cannot be used; null for both. */
  readonly database: DatabaseName | null;
  readonly kind: StoreProblemKind;
  /** One sentence: what happened to what. */
  readonly message: string;
  /** What to do, or what the gateway does by itself. */
  readonly hint: string;
  /** Of a database that others write to: for how long nothing was heard of it when this was noticed. */
  readonly unheardMs?: number;
}

/**
 * - `worker`: the thread ended and is started again.
 * - `driver`: no SQLite can be loaded, or it is too old.
 * - `full`: no room on the disk; goes away by itself when there is.
 * - `damaged`: the file is not a whole database. Records start again empty by themselves, state does not.
 * - `newer`: written by a newer version of this program.
 * - `replaced`: the file was deleted or replaced while it was open.
 * - `away`: the server of the database cannot be reached; goes away by itself when it can.
 * - `failed`: anything else that the system says.
 */
export const storeProblemKinds = [
  ...(["worker", "driver", "full", "damaged"] as const),
  ...(["newer", "replaced", "away", "failed"] as const),
] as const;
export type StoreProblemKind = (typeof storeProblemKinds)[number];

export interface StoreFigures {
  /** Rows that wait in this thread. */
  readonly queuedRows: number;
  /** Rows handed to the worker and not yet written. */
  readonly sentRows: number;
  readonly writtenRows: number;
  /** Since the start, by why. */
  readonly droppedRows: Readonly<Record<DropReason, number>>;
  readonly commits: number;
  /** Time that the worker spent in them. */
  readonly commitMsSum: number;
  readonly commitMsMax: number;
  readonly workerStarts: number;
}

/**
 * - `queue`: more came than could be written.
 * - `database`: it could not be used (full, damaged, no driver).
 * - `worker`: handed to a worker that died.
 * - `row`: refused by the database itself: a value of the wrong kind, or an id that is there already.
 * - `closed`: came after `close`, or was not written by its deadline.
 */
export const dropReasons = ["queue", "database", "worker", "row", "closed"] as const;
export type DropReason = (typeof dropReasons)[number];
