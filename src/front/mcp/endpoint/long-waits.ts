import { createAlarm } from "../../../kernel/runtime/shared-timer.ts";
import type { Replies, CallStage } from "../../../kernel/call/call-context.ts";
import { type JsonObject, isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { createSlotTable, type Numbered } from "../../../kernel/runtime/slot-table.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { notificationText } from "../../../wire/mcp/envelope.ts";
import { metaKeys } from "../../../wire/mcp/revisions.ts";

/** What a request that is worked on tells its client before the answer. */
export interface RequestWays {
  readonly replies: Replies;
  /** Undefined when the client gave no token. */
  readonly progress: RequestProgress | undefined;
  readonly stage: CallStage;
}

/** The way back of a request that may take long. */
export interface PatientReplies extends Replies {
  /**
   * Begins the answer without saying anything, so that the client knows that it is worked on. Missing where an answer
   * has no beginning of its own.
   */
  open?(): void;
}

/** One request whose client waits, from `begin` to `end`. */
export interface LongWait extends Numbered, RequestWays {
  readonly replies: PatientReplies;
}

/**
 * Keeps clients patient. They give up requests of which they hear nothing: many after 60 seconds, whether or not they
 * asked for progress. An answer that is not there within a second is begun as an event stream, and a client that gave a
 * token is told every ten seconds what the call waits for.
 */
export interface LongWaits {
  begin(replies: PatientReplies, params: JsonObject): LongWait;
  end(wait: LongWait): void;
}

/** A little less than a second, so that the client has the head of its answer within one. */
const openAfterMs = 900;
const tellEveryMs = 10_000;

export function createLongWaits(): LongWaits {
  const waits = createSlotTable<Wait>();
  const alarm = createAlarm((nowMs) => {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const wait of waits.values()) {
      if (wait.dueMs <= nowMs) wait.comeDue(nowMs);
      nextMs = Math.min(nextMs, wait.dueMs);
    }
    return nextMs;
  });
  return {
    begin(replies, params) {
      const nowMs = performance.now();
      const wait = new Wait(waits.nextId(), replies, progressOf(params, replies, nowMs), nowMs);
      waits.put(wait);
      alarm.setFor(wait.dueMs, nowMs);
      return wait;
    },
    end: (wait) => void waits.take(wait.id),
  };
}

/** A class, and its own stage, because one is made for every request. */
class Wait implements LongWait, CallStage {
  readonly id: number;
  readonly replies: PatientReplies;
  readonly progress: RequestProgress | undefined;
  readonly #sinceMs: number;
  #isOpen = false;
  dueMs: number;
  server: string | undefined = undefined;
  isStarting = false;

  constructor(id: number, replies: PatientReplies, progress: RequestProgress | undefined, nowMs: number) {
    this.id = id;
    this.replies = replies;
    this.progress = progress;
    this.#sinceMs = nowMs;
    this.dueMs = nowMs + openAfterMs;
  }

  get stage(): CallStage {
    return this;
  }

  comeDue(nowMs: number): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.replies.open?.();
    } else if (this.progress !== undefined && nowMs >= this.progress.toldMs + tellEveryMs)
      this.progress.repeat(this.#words(nowMs));
    this.dueMs = this.progress === undefined ? Number.POSITIVE_INFINITY : this.progress.toldMs + tellEveryMs;
  }

  #words(nowMs: number): string {
    const seconds = Math.round((nowMs - this.#sinceMs) / 1_000);
    const doing = this.isStarting ? "starting" : "waiting for";
    return `${this.server === undefined ? "waiting" : `${doing} ${this.server}`}: ${seconds} s`;
  }
}

/** The progress of one request, as its client is told it (2026-07-28, basic/patterns/progress). */
interface RequestProgress {
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
function progressOf(
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
