import { createAlarm } from "../../../kernel/runtime/shared-timer.ts";
import type { Replies, CallStage } from "../../../kernel/call/call-context.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";
import { createSlotTable, type Numbered } from "../../../kernel/runtime/slot-table.ts";
import { progressOf, type RequestProgress } from "./request-progress.ts";

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
