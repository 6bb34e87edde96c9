import type { Replies } from "../../../kernel/call/call-context.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { notificationText } from "../../../wire/mcp/envelope.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";

/** The progress of one request, as its client is told it (2026-07-28, basic/patterns/progress). */
export interface RequestProgress {
  /** When the client was last told something, in milliseconds of performance.now. */
  readonly toldMs: number;
  /**
   * Takes the server's params of notifications/progress, without its token. What does not grow, or is no number that
   * JavaScript can write, is dropped.
   */
  pass(params: JsonObject): void;
  /** Says that the request is still worked on: in the server's last words, or else in these. */
  repeat(words: string): void;
}

/** Undefined where the client gave no token: it wants no progress. */
export function progressOf(
  { _meta: meta }: JsonObject,
  replies: Pick<Replies, "send">,
  nowMs: number,
): RequestProgress | undefined {
  const token = isJsonObject(meta) ? meta[metaKeys.progressToken] : undefined;
  return typeof token === "string" || typeof token === "number" ? new TokenProgress(token, replies, nowMs) : undefined;
}

class TokenProgress implements RequestProgress {
  readonly #head: string;
  readonly #replies: Pick<Replies, "send">;
  /** The server's own last value. Ours lie just above it, so that its next one is passed as it is. */
  #reached = Number.NEGATIVE_INFINITY;
  #sent = Number.NEGATIVE_INFINITY;
  #last: JsonObject = {};
  toldMs: number;

  constructor(token: string | number, replies: Pick<Replies, "send">, nowMs: number) {
    this.#head = `{"progressToken":${asciiJson(token)}`;
    this.#replies = replies;
    this.toldMs = nowMs;
  }

  pass(params: JsonObject): void {
    const { progress } = params;
    // 1e400 is a number in JSON and none in JavaScript, where clients would find null.
    if (typeof progress !== "number" || !Number.isFinite(progress) || progress <= this.#reached) return;
    const { total, ...rest } = params;
    this.#reached = progress;
    this.#last = total === undefined || Number.isFinite(total) ? params : rest;
    this.#tell(this.#last, progress > this.#sent ? progress : justAbove(this.#sent));
  }

  repeat(words: string): void {
    this.#tell("message" in this.#last ? this.#last : { ...this.#last, message: words }, justAbove(this.#sent));
  }

  #tell(params: JsonObject, progress: number): void {
    if (!Number.isFinite(progress)) return;
    this.#sent = progress;
    this.toldMs = performance.now();
    const told = params["progress"] === progress ? params : { ...params, progress };
    this.#replies.send(notificationText("notifications/progress", `${this.#head},${asciiJson(told).slice(1)}`));
  }
}

/** A number that is larger by an invisible amount that a client of single precision tells apart. */
function justAbove(value: number): number {
  return value === Number.NEGATIVE_INFINITY ? smallestStep : value + Math.max(Math.abs(value), 1) * smallestStep;
}

const smallestStep = 1e-6;
