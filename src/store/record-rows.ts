/**
 * The rows that a gateway keeps of what happened: declared once, for those who make them and those who keep them. Plain
 * values only, because they travel to a worker thread as JSON. Nothing in them is secret: the maker of a row has taken
 * secrets out (`RecordStoreOptions.redact` is the last chance).
 *
 * Times are wall clock, in ms. Texts that are not there are null; "" is a text.
 */

/** Whose row it is. What a person may see is decided by these. */
export interface RecordOwner {
  readonly team: string | null;
  /** `Principal.id`: a membership, or `local`. */
  readonly principal: string;
}

/** One call that ended, however it ended. */
export interface RequestRecord extends RecordOwner {
  /** From `RecordStore.nextId`: rising, and unique in this store. */
  readonly id: number;
  /** When it ended: it began `durationMs + waitMs` earlier. */
  readonly atMs: number;
  /** Name of the client as it says itself, without version; null when it does not say. */
  readonly client: string | null;
  /** Empty where no server was named: a search, or a call of a tool that there is not. */
  readonly instance: string;
  readonly server: string;
  /** Which front it came through: `mcp`, `rest`, `owner`. */
  readonly via: string;
  /** Of the protocol: `tools/call`, `resources/read`, `prompts/get`; `search` where tools were searched. */
  readonly method: string;
  /** What was called: path of a tool (`server:tool`), URI of a resource, name of a prompt; words of a search. */
  readonly name: string;
  /** `ok`; `tool_error` (isError); `error` (the server's JSON-RPC error); `failed` (ours: `code` says which). */
  readonly outcome: RequestOutcome;
  /** Our failure's code, or the number of the server's JSON-RPC error; null for `ok` and `tool_error`. */
  readonly code: string | null;
  /** The call itself, without waiting. */
  readonly durationMs: number;
  /** Waiting for the server's start, or for a person. */
  readonly waitMs: number;
  readonly argumentTokens: number;
  /** Of what the client was sent: after a cut. */
  readonly resultTokens: number;
  /** Whether the result was cut to fit its budget before the client got it. */
  readonly isResultCut: boolean;
  /** Of the trace that it belongs to, 32 hex digits; null where traces were off. */
  readonly traceId: string | null;
  /** First line of the error where it failed; of a search, what was found. At most 300 characters; null otherwise. */
  readonly message: string | null;
  /** Arguments and result where the server's `requestLogging` is `full`; null otherwise. */
  readonly body: RequestBody | null;
}

export type RequestOutcome = "ok" | "tool_error" | "error" | "failed";

/** What was said in a call, as text. */
export interface RequestBody {
  readonly arguments: string;
  /** Whether `arguments` is only the beginning of them. */
  readonly areArgumentsCut: boolean;
  readonly result: string;
  /** Whether `result` is only the beginning of what the client got. */
  readonly isResultCut: boolean;
}

/** One line that a server wrote to stderr, or sent as a log message. */
export interface ServerLogLine {
  readonly id: number;
  readonly atMs: number;
  readonly team: string | null;
  readonly instance: string;
  readonly server: string;
  readonly level: LogLevel;
  readonly line: string;
}

export const logLevels = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The counts and sums of calls; those of several rows can be added. */
export interface UsageFigures {
  readonly calls: number;
  readonly durationMsSum: number;
  readonly durationMsMax: number;
  /** Calls by duration: as many as `latencyBoundsMs` has, and one for those above the last. */
  readonly buckets: readonly number[];
  readonly argumentTokens: number;
  readonly resultTokens: number;
  /** Results that were cut to fit their budget. */
  readonly cut: number;
}

/**
 * What was used in one hour by one principal, with one tool and one client, and one outcome: counts that are added to
 * those which are there. Errors by code are the rows whose `code` is not "".
 */
export interface UsageHour extends RecordOwner, UsageFigures {
  /** Beginning of the hour: a multiple of 3,600,000. */
  readonly hourMs: number;
  readonly instance: string;
  readonly server: string;
  /** As `RequestRecord.name`. */
  readonly tool: string;
  readonly client: string | null;
  /** "" for calls that went well, otherwise `tool_error` or as `RequestRecord.code`. */
  readonly code: string;
}

/** Upper bounds of the latency buckets, inclusive; a twelfth bucket has what took longer. */
export const latencyBoundsMs = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000] as const;

/** Something that happened, as the union of events has it. */
export interface EventRecord {
  readonly id: number;
  readonly atMs: number;
  readonly type: string;
  readonly team: string | null;
  /** Null where it is about no one in particular. */
  readonly principal: string | null;
  readonly installation: string | null;
  readonly instance: string | null;
  readonly server: string | null;
  /** The rest of the event: a JSON object as text. */
  readonly detail: string;
}

/** All tools of one installation as they are now: replaces what was kept of it before. */
export interface ToolMetadata {
  /** As events name it. */
  readonly installation: string;
  readonly server: string;
  readonly discoveredAtMs: number;
  readonly tools: readonly ToolMetadataRow[];
}

export interface ToolMetadataRow {
  /** `server:tool`. */
  readonly path: string;
  readonly description: string;
  /** Of the input schema, hex. */
  readonly schemaHash: string;
  readonly tokens: number;
}

/** A session of a client that finds tools: what it saved and spent so far. A later row takes its place. */
export interface SessionRecord {
  readonly id: number;
  readonly principal: string;
  readonly client: string | null;
  readonly exposure: string;
  readonly startedMs: number;
  /** Whether the client keeps definitions from its model by itself. */
  readonly isLazy: boolean;
  /** In tokens; null where it is not known. */
  readonly saved: number | null;
  /** Of `saved`. */
  readonly isExact: boolean;
  readonly spent: number;
}

/**
 * What one person's models spent on finding tools on one day, in one life of a gateway. A later row takes its place.
 */
export interface SpentDay {
  /** Midnight of UTC. */
  readonly dayMs: number;
  /** Of the gateway that counted it. */
  readonly life: string;
  readonly principal: string;
  /** When that gateway began to count on that day. */
  readonly sinceMs: number;
  readonly answers: number;
  readonly answerTokens: number;
  readonly wrappedCalls: number;
  readonly wrappingTokens: number;
}

/** Something that somebody did, or was denied, and that has to be provable later. */
export interface AuditEntry {
  readonly atMs: number;
  /** Who: a principal's id, or `owner` for the owner of the data directory, or `gateway`. */
  readonly actor: string;
  /** With what: `pat`, `session`, `grant`, `instance`, `jwt`, `owner`, `file`. */
  readonly via: string;
  readonly team: string | null;
  /** `config.apply`, `token.create`, `login`, `call`, ... */
  readonly action: string;
  /** What it was done to; "" where the action says all. */
  readonly object: string;
  readonly outcome: "ok" | "denied" | "failed";
  readonly ip: string | null;
  /** A JSON object as text. */
  readonly detail: string;
}

/** An entry in its place in the chain. `hash` is an HMAC over the entry and `prev`, the hash before it. */
export interface AuditRow extends AuditEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  /** 64 hex digits; 64 zeros for the first. */
  readonly prev: string;
  readonly hash: string;
}
