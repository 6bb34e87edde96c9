import type { SearchReport } from "../../catalog/exposure/discover/search-report.ts";
import type { KeptPlaced } from "../../engine/perform/intents/kept-runs.ts";
import type { ToolAnnotations, ToolDefinition } from "../../kernel/call/definitions.ts";
import type { FailedStep } from "../../servers/upstream/connection.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";

/**
 * What everyday commands are answered with, one line of JSON each; `end` says that this was all. Results and
 * definitions of servers are JSON texts within the line, because parsing a line must not change their numbers.
 */
export interface EverydayLine {
  readonly ok: boolean;
  readonly end?: boolean;
  /** Why it did not go well, where `ok` is false: as a model would be told. */
  readonly failure?: FailureLine;
  /** Slugs of servers that have never been up yet and are waited for. */
  readonly waiting?: readonly string[];
  /** Params of notifications/progress. */
  readonly progress?: JsonObject;
  /** A server asks; the next line of the asking side is `{ answer }`, a JSON text. */
  readonly question?: { readonly method: string; readonly params: JsonObject };
  readonly search?: SearchReport;
  readonly kept?: KeptLine;
  /** What a search could not use, as its report has it. */
  readonly degraded?: string;
  readonly tool?: ToolLine;
  readonly details?: ToolDetailsLine;
  readonly serverDetails?: ServerDetailsLine;
  readonly resource?: ResourceLine;
  readonly prompt?: PromptLine;
  readonly result?: ResultLine;
  /** A server whose things are missing from the list. */
  readonly missing?: { readonly server: string; readonly word: string; readonly reason: string };
  readonly pinned?: PinnedLine;
}

/** A pin of the caller. */
export interface PinnedLine {
  readonly path: string;
  /** In the list of `/mcp`; null where no tool has this path. */
  readonly name: string | null;
  /** Of its definition there, estimated. */
  readonly tokens: number;
  /** Of a path that no tool has: those that are much like it. */
  readonly near: readonly string[];
}

/** A search that is kept as a test. */
export interface KeptLine {
  readonly id: string;
  readonly query: string;
  readonly tool: string;
  /** From 1; null where the tool was not found. */
  readonly rank: number | null;
  readonly keptAt: string;
  /** Of one that was kept just now: false where its server has not told yet what it offers. */
  readonly toolExists?: boolean;
  /** What it finds now, where it was made again. */
  readonly now?: Pick<KeptPlaced, "rankNow" | "toolExists" | "first">;
}

export interface FailureLine {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly closest?: readonly string[];
  readonly tool_paths?: readonly string[];
  readonly uris?: readonly string[];
  readonly signature?: string;
}

/** How a server's status is told beside what it offers. */
export interface ServerStanding {
  readonly server: string;
  readonly status: string;
  /** `online`, `asleep`, ...: the status in a word. */
  readonly word: string;
}

export interface ToolLine extends ServerStanding {
  readonly path: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Compact signature. */
  readonly input: string;
  readonly annotations: ToolAnnotations;
  /** What its definition costs where it is listed; an estimate. */
  readonly tokens: number;
}

/** Of the last 24 hours. */
export interface ToolUse {
  readonly calls: number;
  readonly errors: number;
}

export interface ToolDetailsLine extends ToolLine {
  readonly reason: string;
  readonly spellings: readonly string[];
  /** What people say when they need it, as far as the search knows. */
  readonly phrases: readonly string[];
  /** Null where that cannot be told, or it was not asked for. */
  readonly use: ToolUse | null;
  /** The definition as its server wrote it, as JSON. */
  readonly definition: string;
  /** The same, with numbers as JavaScript has them. */
  readonly inputSchema: ToolDefinition["inputSchema"];
}

/** One server: its state, how it was reached, and which of its faults were mended. */
export interface ServerDetailsLine extends ServerStanding {
  readonly title: string;
  readonly reason: string;
  readonly version: string | null;
  readonly eras: readonly string[];
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  /** What failed of the handshake of its last start, in order. */
  readonly handshake: readonly FailedStep[];
  /** A sentence for each kind. */
  readonly oddities: readonly string[];
}

export interface ResourceLine {
  readonly kind: "resource" | "template";
  readonly server: string;
  /** `server|uri`: what `read` takes. Of a template, with its placeholders. */
  readonly uri: string;
  readonly name: string | null;
  readonly mimeType: string | null;
  readonly description: string | null;
  /** As list_mcp_resources gives it, as JSON. */
  readonly definition: string;
}

export interface PromptLine {
  readonly server: string;
  /** Unique among all servers. */
  readonly name: string;
  readonly description: string | null;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
  /** With that name, as JSON. */
  readonly definition: string;
}

export interface ResultLine {
  /** The result of tools/call or resources/read, as the server wrote it but for links that can be read here. */
  readonly json: string;
  readonly warning?: string;
}
