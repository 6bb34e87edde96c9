import { accessQuestions } from "../access-store.ts";
import { approvalQuestions } from "../approval-rows.ts";
import type { AccessOfPeople, AccessRows, AccessWrites } from "../access-rows.ts";
import type { InstallRows, InstallWrites, SecretUse } from "../install-rows.ts";
import type { PatUse, PeopleRows, PeopleWrites } from "../people-rows.ts";
import { attemptQuestions, claimQuestions, sharedQuestions, type ClaimAsk } from "../shared.ts";
import { question, type AnswerOf, type AskOf } from "../question.ts";
import type { AuditEntry } from "../record-rows.ts";
import { recordQuestions, type AuditPlace, type RecordKind, type StoreProblem } from "../record-store.ts";
import { upkeepQuestions } from "../store-upkeep.ts";
import type { KeepOutcome, KeptSearch } from "../../catalog/discovery/kept-searches.ts";
import type { PinChoice } from "../../config/rows/tool-rows.ts";
import type { PinQuestion, KeepQuestion, RemoveQuestion } from "./state/member-tables.ts";
import type { FailureCode } from "../../kernel/failures/failures.ts";
import type { FeedNews } from "./postgres/change-feed.ts";
import type { LinkLimits } from "./postgres/postgres-link.ts";
import type { RetentionLimits } from "./requests/retention-limits.ts";
import type { RowText } from "./requests/packed-calls.ts";

/** What the worker thread is given when it starts. */
export interface SqlWorkerData {
  readonly buildId: string;
  readonly folder: string;
  /** The URL of a PostgreSQL; undefined for SQLite, in `folder`. */
  readonly database: string | undefined;
  readonly link: Partial<LinkLimits> | undefined;
  /** The last change of others that this gateway knows, where an earlier thread told it of some. */
  readonly after: number | undefined;
  /** Tells this gateway from others of the same database. */
  readonly gatewayId: string;
  /** Where a SQLite of our own is unpacked to. */
  readonly driverFolder: string;
  readonly auditKey: Uint8Array;
  readonly retention: RetentionLimits;
  /** Between two looks at the files and the disk, ms. */
  readonly lookMs: number;
  /** Between two rounds of deleting, ms; half of it before the first. */
  readonly retentionMs: number;
  /** Between two pieces of one, ms. */
  readonly pauseMs: number;
}

/** All that the worker thread is asked. */
const questions = {
  ...recordQuestions,
  ...accessQuestions,
  ...approvalQuestions,
  ...claimQuestions,
  ...attemptQuestions,
  ...sharedQuestions,
  ...upkeepQuestions,
  people: question<void, PeopleRows>(),
  changePeople: question<PeopleAsk, AuditPlace & { readonly change?: number }>(),
  usePats: question<readonly PatUse[], void>(),
  installs: question<void, InstallRows & { readonly seq?: number }>(),
  changeInstalls: question<InstallsAsk, AuditPlace & { readonly change?: number }>(),
  useSecrets: question<readonly SecretUse[], void>(),
  access: question<number, AccessRows & { readonly seq?: number }>(),
  changeAccess: question<AccessAsk, AccessAnswer>(),
  claim: question<ClaimAsk, { readonly fresh: readonly string[]; readonly change?: number }>(),
  keptSearches: question<string, readonly KeptSearch[]>(),
  keepSearch: question<KeepQuestion, KeepOutcome>(),
  removeKeptSearch: question<RemoveQuestion, boolean>(),
  pins: question<string, PinChoice | undefined>(),
  choosePins: question<PinQuestion, boolean>(),
};

export type Questions = typeof questions;
export type QuestionName = keyof Questions;

/** Answers by the names of their questions, found in `Given`. */
export type AnswersFrom<Given> = {
  readonly [Name in QuestionName]?: (given: Given, ask: AskOf<Questions[Name]>) => Promise<AnswerOf<Questions[Name]>>;
};

/** A change of people, and its entry in the audit. */
export interface PeopleAsk {
  readonly writes: PeopleWrites;
  readonly entry: AuditEntry;
  /** Apart from the rest, because other gateways are told of that. */
  readonly access: AccessOfPeople;
  /** The last change of others that it was planned with; undefined where this gateway is the only writer. */
  readonly seen?: number;
}

/** A change of teams' servers, and its entries in the audit. */
export interface InstallsAsk {
  readonly writes: InstallWrites;
  readonly entry: AuditEntry;
  /** As in `PeopleAsk`. */
  readonly seen?: number;
}

/** A change of how people get in, what of people belongs to it, and their entries in the audit. */
export interface AccessAsk {
  readonly writes: AccessWrites;
  readonly people: PeopleWrites;
  readonly entries: readonly AuditEntry[];
  /** As in `PeopleAsk`; where the change has people in it. */
  readonly seen?: number;
}

export interface AccessAnswer {
  /** False where nothing was changed, because what it depends on was used before. */
  readonly isDone: boolean;
  /** Under which number others are told of what was changed. */
  readonly change?: number;
  /** The same of the people in it. */
  readonly peopleChange?: number;
}

/** To the worker. `text` is JSON: one text is handed over cheaper than a tree of objects. */
export type SqlRequest =
  | AppendRequest
  | { readonly kind: "ask"; readonly id: number; readonly name: QuestionName; readonly text: string }
  | { readonly kind: "close" };

/** A batch of rows of that kind. */
export interface AppendRequest extends RowText {
  readonly kind: "append";
  readonly id: number;
  readonly rows: RecordKind;
}

/** From the worker. */
export type SqlReply =
  /** Gateways of the same database have changed something. */
  | { readonly kind: "changed"; readonly news: FeedNews }
  /** Ids of records are to be of this slot. */
  | { readonly kind: "slot"; readonly slot: number }
  /** Both databases were tried. `lastId` is the highest id of any record. */
  | { readonly kind: "opened"; readonly lastId: number }
  | { readonly kind: "problems"; readonly problems: readonly StoreProblem[] }
  | ({ readonly kind: "appended"; readonly id: number } & BatchResult)
  /** Rows of calls that were said to be written are not: the database refused them when their batch was sorted. */
  | { readonly kind: "unwritten"; readonly rows: number }
  | { readonly kind: "answer"; readonly id: number; readonly text: string }
  | { readonly kind: "refused"; readonly id: number; readonly failure: Refusal }
  /** There is no SQLite to use, or none yet, because it cannot be unpacked on a full disk: it ends. */
  | { readonly kind: "driverless"; readonly message: string; readonly isFull: boolean }
  | { readonly kind: "closed" };

/** What became of the rows of one batch. */
export interface BatchResult {
  readonly written: number;
  /** Refused by the database, each for itself. */
  readonly refused: number;
  /** Not written, because the database could not be used. */
  readonly lost: number;
  /** Time in the transaction. */
  readonly commitMs: number;
}

export interface Refusal {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
}
