import {
  flag,
  integer,
  integerOrNull,
  named,
  table,
  text,
  textOrNull,
  word,
  type Column,
  type RowOf,
} from "./state-table.ts";

/**
 * The rows that a gateway keeps of what happened: declared once, for those who make them and those who keep them. Plain
 * values only, because they travel to a worker thread as JSON. Nothing in them is secret: the maker of a row has taken
 * secrets out (`RecordStoreOptions.redact` is the last chance).
 *
 * Times are wall clock, in ms. Texts that are not there are null; "" is a text.
 */

/**
 * Ids of records begin with their time, so that a range of time is a range of ids and needs no index of its own.
 * 2,048 in a millisecond is more than one thread can make, and fits into a double until the year 2109.
 */
export const idsPerMs = 2_048;

export const logLevels = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
const levelColumn: Column<LogLevel, number> = {
  keep: (level) => logLevels.indexOf(level),
  read: (place) => logLevels[place] ?? "info",
};

/** A text that may be missing, of a key: null equals nothing there. */
const textOrEmpty: Column<string | null, string> = {
  keep: (value) => value ?? "",
  read: (kept) => (kept === "" ? null : kept),
};

/** Tables of `records.db`. */
export const recordTables = {
  /** One call that ended, however it ended. */
  request_log: table({
    /** From `RecordStore.nextId`: rising, and unique in this store. */
    id: integer,
    /** When it ended: it began `durationMs + waitMs` earlier. */
    atMs: integer,
    team: textOrNull,
    /** `Principal.id`: a membership, or `local`. With the team, it decides what a person may see. */
    principal: text,
    /** Name of the client as it says itself, without version; null when it does not say. */
    client: textOrNull,
    /** Empty where no server was named: a search, or a call of a tool that there is not. */
    instance: text,
    server: text,
    /** Which front it came through: `mcp`, `rest`, `owner`. */
    via: text,
    /** Of the protocol: `tools/call`, `resources/read`, `prompts/get`; `search` where tools were searched. */
    method: text,
    /** What was called: path of a tool (`server:tool`), URI of a resource, name of a prompt; words of a search. */
    name: text,
    /** `ok`; `tool_error` (isError); `error` (the server's JSON-RPC error); `failed` (ours: `code` says which). */
    outcome: word<RequestOutcome>(),
    /** Our failure's code, or the number of the server's JSON-RPC error; null for `ok` and `tool_error`. */
    code: textOrNull,
    /** The call itself, without waiting. */
    durationMs: integer,
    /** Waiting for the server's start, or for a person. */
    waitMs: integer,
    argumentTokens: integer,
    /** Of what the client was sent: after a cut. */
    resultTokens: integer,
    /** Whether the result was cut to fit its budget before the client got it. */
    isResultCut: named("result_cut", flag),
    /** Of the trace that it belongs to, 32 hex digits; null where traces were off. */
    traceId: textOrNull,
    /** First line of the error where it failed; of a search, what was found. At most 300 characters; null otherwise. */
    message: textOrNull,
    /** The node of a cluster that served it; null in a gateway that is alone. */
    node: textOrNull,
    /** The node that ran the server, where that was another one. */
    serverNode: textOrNull,
  }),
  /** What was said in a call, as text: apart, so that lists never read it, and it can be forgotten earlier. */
  request_body: table({
    id: integer,
    instance: text,
    arguments: text,
    /** Whether `arguments` is only the beginning of them. */
    areArgumentsCut: named("arguments_cut", flag),
    result: text,
    /** Whether `result` is only the beginning of what the client got. */
    isResultCut: named("result_cut", flag),
  }),
  /** One line that a server wrote to stderr, or sent as a log message. */
  server_log: table({
    id: integer,
    atMs: integer,
    team: textOrNull,
    instance: text,
    server: text,
    /** Its place in `logLevels`. */
    level: levelColumn,
    line: text,
  }),
  /** Something that happened, as the union of events has it. */
  event: table({
    id: integer,
    atMs: integer,
    type: text,
    team: textOrNull,
    /** Null where it is about no one in particular. */
    principal: textOrNull,
    installation: textOrNull,
    instance: textOrNull,
    server: textOrNull,
    /** The rest of the event: a JSON object as text. */
    detail: text,
  }),
  tool_metadata: table({
    /** As events name it. */
    installation: text,
    /** `server:tool`. */
    path: text,
    server: text,
    description: text,
    /** Of the input schema, hex. */
    schemaHash: text,
    tokens: integer,
    discoveredAtMs: integer,
  }),
  /** To which installation an instance belongs. */
  known_instance: table({ instance: text, installation: text, seenMs: integer }),
  /**
   * What was used in one hour by one principal, with one tool and one client, and one outcome: counts that are added to
   * those which are there. Errors by code are the rows whose `code` is not "".
   */
  usage_hour: table({
    /** Beginning of the hour: a multiple of 3,600,000. */
    hourMs: integer,
    team: textOrEmpty,
    principal: text,
    instance: text,
    /** As `name` of the call. */
    tool: text,
    client: textOrEmpty,
    /** "" for calls that went well, otherwise `tool_error` or as `code` of the call. */
    code: text,
    server: text,
    calls: integer,
    durationMsSum: integer,
    durationMsMax: integer,
    argumentTokens: integer,
    resultTokens: integer,
    /** Results that were cut to fit their budget. */
    cut: integer,
  }),
  /** A session of a client that finds tools: what it saved and spent so far. A later row takes its place. */
  finding_session: table({
    id: integer,
    principal: text,
    client: textOrNull,
    exposure: text,
    startedMs: integer,
    /** Whether the client keeps definitions from its model by itself. */
    isLazy: flag,
    /** In tokens; null where it is not known. */
    saved: integerOrNull,
    /** Of `saved`. */
    isExact: flag,
    spent: integer,
  }),
  /**
   * What one person's models spent on finding tools on one day, in one life of a gateway. A later row takes its place.
   */
  finding_day: table({
    /** Midnight of UTC. */
    dayMs: integer,
    /** Of the gateway that counted it. */
    life: text,
    principal: text,
    /** When that gateway began to count on that day. */
    sinceMs: integer,
    answers: integer,
    answerTokens: integer,
    wrappedCalls: integer,
    wrappingTokens: integer,
  }),
};

type RecordTables = typeof recordTables;
export type RequestOutcome = "ok" | "tool_error" | "error" | "failed";

export interface RequestRecord extends RowOf<RecordTables["request_log"]> {
  /** Arguments and result where the server's `requestLogging` is `full`; null otherwise. */
  readonly body: RequestBody | null;
}

export type RequestBody = Omit<RowOf<RecordTables["request_body"]>, "id" | "instance">;
export type ServerLogLine = RowOf<RecordTables["server_log"]>;
export type EventRecord = RowOf<RecordTables["event"]>;
export type SessionRecord = RowOf<RecordTables["finding_session"]>;
export type SpentDay = RowOf<RecordTables["finding_day"]>;
type ToolRow = RowOf<RecordTables["tool_metadata"]>;
export type ToolMetadataRow = Pick<ToolRow, "path" | "description" | "schemaHash" | "tokens">;

/** The counts and sums of calls; those of several rows can be added. */
export interface UsageFigures extends Omit<
  UsageRow,
  "hourMs" | "team" | "principal" | "instance" | "tool" | "client" | "code" | "server"
> {
  /** Calls by duration: as many as `latencyBoundsMs` has, and one for those above the last. */
  readonly buckets: readonly number[];
}

export interface UsageHour extends UsageRow, UsageFigures {}

type UsageRow = RowOf<RecordTables["usage_hour"]>;

/** All tools of one installation as they are now: replaces what was kept of it before. */
export interface ToolMetadata extends Omit<ToolRow, keyof ToolMetadataRow> {
  readonly tools: readonly ToolMetadataRow[];
}

/** Upper bounds of the latency buckets, inclusive; a twelfth bucket has what took longer. */
export const latencyBoundsMs = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000] as const;

export const auditTables = {
  /**
   * Something that somebody did, or was denied, and that has to be provable later, in its place in the chain. `hash` is
   * an HMAC over the entry and `prev`, the hash before it.
   */
  audit: table({
    /** From 1, without gaps. */
    seq: integer,
    atMs: integer,
    /** Who: a principal's id, or `owner` for the owner of the data directory, or `gateway`. */
    actor: text,
    /** With what: `pat`, `session`, `grant`, `instance`, `jwt`, `owner`, `file`. */
    via: text,
    team: textOrNull,
    /** `config.apply`, `token.create`, `login`, `call`, ... */
    action: text,
    /** What it was done to; "" where the action says all. */
    object: text,
    outcome: word<"ok" | "denied" | "failed">(),
    ip: textOrNull,
    /** A JSON object as text. */
    detail: text,
    /** 64 hex digits; 64 zeros for the first. */
    prev: text,
    hash: text,
  }),
};

export type AuditRow = RowOf<(typeof auditTables)["audit"]>;
export type AuditEntry = Omit<AuditRow, "seq" | "prev" | "hash">;
