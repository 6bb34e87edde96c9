import { carriageReturn, lineFeed, startsWithMark, colon, space } from "../json/characters.ts";
import { GatheredBytes } from "../json/gathered-bytes.ts";
import { isHeaderValue } from "../../kernel/text/header-value.ts";

/** Reads one `text/event-stream` (WHATWG HTML, 9.2.6) as bytes, in linear time however they arrive. */
export interface EventStreamReader {
  feed(chunk: Buffer): void;
  /**
   * The last `id:` that came with a complete event, for `Last-Event-ID`: its UTF-8, in latin1, as headers are
   * written.
   */
  readonly lastEventId: string | undefined;
  /** The last `retry:`, in ms. */
  readonly retryMs: number | undefined;
}

export interface EventStreamSink {
  /** One event that has data. `type` is `message` unless the event named another. The bytes may be kept. */
  onEvent(data: Buffer, type: string): void;
  /** One event grew beyond the limit; nothing is delivered after it. */
  onTooLong(): void;
  /** So many bytes came without an event that they are no signs of life; nothing is delivered after it. */
  onTooMuchIdle(): void;
}

/**
 * Lines end with LF, CRLF or CR; comments are skipped; an event that the end of the stream cuts short is dropped, as
 * the standard says. `limitBytes` bounds one event (all its lines together).
 */
export function createEventStreamReader(
  limitBytes: number,
  sink: EventStreamSink,
  now: () => number = () => performance.now(),
): EventStreamReader {
  const unfinishedLine = new GatheredBytes();
  const event = new EventFields((data, type) => {
    idle.end();
    sink.onEvent(data, type);
  });
  const idle = createIdleMeter(now);
  let sawCarriageReturn = false;
  let isFirstLine = true;
  let ended = false;

  function endLine(end: Buffer): void {
    let line = end;
    if (unfinishedLine.length > 0) {
      unfinishedLine.append(end);
      line = unfinishedLine.take();
    }
    if (isFirstLine) {
      isFirstLine = false;
      if (startsWithMark(line)) line = line.subarray(3);
    }
    event.addLine(line);
  }

  function stop(): void {
    ended = true;
    unfinishedLine.clear();
    event.clear();
  }

  function isTooLong(): boolean {
    if (unfinishedLine.length + event.length <= limitBytes) return false;
    stop();
    sink.onTooLong();
    return true;
  }

  function feed(chunk: Buffer): void {
    if (ended) return;
    const eventBytes = event.length;
    idle.begin(chunk.length);
    readLines(chunk);
    if (event.length > eventBytes) idle.end();
    if (ended || !idle.isTooMuch(unfinishedLine.length)) return;
    stop();
    sink.onTooMuchIdle();
  }

  function readLines(chunk: Buffer): void {
    let start = 0;
    if (sawCarriageReturn) {
      sawCarriageReturn = false;
      if (chunk[0] === lineFeed) start = 1;
    }
    // Both places are looked up once each and remembered, so that a chunk is read at most twice.
    let feedAt = chunk.indexOf(lineFeed, start);
    let returnAt = chunk.indexOf(carriageReturn, start);
    while (!ended && (feedAt !== -1 || returnAt !== -1)) {
      const isReturn = returnAt !== -1 && (feedAt === -1 || returnAt < feedAt);
      const end = isReturn ? returnAt : feedAt;
      endLine(chunk.subarray(start, end));
      if (isTooLong()) return;
      start = end + 1;
      if (isReturn && start === chunk.length) sawCarriageReturn = true;
      else if (isReturn && feedAt === start) start += 1;
      if (feedAt !== -1 && feedAt < start) feedAt = chunk.indexOf(lineFeed, start);
      if (returnAt !== -1 && returnAt < start) returnAt = chunk.indexOf(carriageReturn, start);
    }
    if (start === chunk.length) return;
    unfinishedLine.append(chunk.subarray(start));
    isTooLong();
  }

  return {
    feed,
    get lastEventId() {
      return event.lastEventId;
    },
    get retryMs() {
      return event.retryMs;
    },
  };
}

const newline = Buffer.from("\n");
const longestType = 100;
const longestId = 4_096;

/** The event that is being read, field by field. A class: a stream may be read for a single call, without closures. */
export class EventFields {
  readonly #data = new GatheredBytes();
  readonly #onEvent: (data: Buffer, type: string) => void;
  #hasData = false;
  #type = "";
  #id: string | undefined;
  /** The last `id:` that came with a complete event. */
  lastEventId: string | undefined;
  /** The last `retry:`, in ms. */
  retryMs: number | undefined;

  /** `onEvent` is told of each event that has data; its type is `message` unless the event named another. */
  constructor(onEvent: (data: Buffer, type: string) => void) {
    this.#onEvent = onEvent;
  }

  /** How many bytes of data are held for the event. */
  get length(): number {
    return this.#data.length;
  }

  clear(): void {
    this.#data.clear();
  }

  /** A line without its end. An empty one completes the event. */
  addLine(line: Buffer): void {
    if (line.length === 0) this.#complete();
    else this.#addField(line);
  }

  #complete(): void {
    if (this.#id !== undefined) this.lastEventId = this.#id;
    if (this.#hasData) {
      const whole = this.#data.take();
      this.#hasData = false;
      if (whole.length > 0) this.#onEvent(whole, this.#type === "" ? "message" : this.#type);
    }
    this.#type = "";
  }

  #addField(line: Buffer): void {
    const nameEnd = line.indexOf(colon);
    if (nameEnd === 0) return;
    const name = line.toString("latin1", 0, nameEnd === -1 ? line.length : Math.min(nameEnd, 6));
    const valueStart = nameEnd === -1 ? line.length : nameEnd + (line[nameEnd + 1] === space ? 2 : 1);
    switch (name) {
      case "data":
        if (this.#hasData) this.#data.append(newline);
        this.#hasData = true;
        this.#data.append(line.subarray(valueStart));
        return;
      case "event":
        this.#type = line.toString("utf8", valueStart, Math.min(line.length, valueStart + longestType));
        return;
      case "id":
        this.#id = sendableId(line.subarray(valueStart)) ?? this.#id;
        return;
      case "retry": {
        const text = line.toString("latin1", valueStart, Math.min(line.length, valueStart + 12));
        if (/^\d{1,9}$/.test(text)) this.retryMs = Number(text);
        return;
      }
    }
  }
}

/** An id that no header may hold is ignored: the stream is then resumed after the id before it. */
function sendableId(bytes: Buffer): string | undefined {
  const id = bytes.length > longestId ? "\0" : bytes.toString("latin1");
  return isHeaderValue(id) ? id : undefined;
}

/**
 * Comments and empty lines that may come in a row within a minute. A stream of nothing else, as fast as it can, would
 * take the whole processor until the call's deadline. Keep-alives come to as much only in hours, and may do so.
 */
export const mostIdleBytes = 1024 * 1024;
export const idleWindowMs = 60_000;

/** Counts the bytes of an event stream that say nothing. */
export interface IdleMeter {
  /** A chunk of so many bytes came, and is read next. */
  begin(chunkBytes: number): void;
  /** Something was said: an event, or a part of one. */
  end(): void;
  /** Whether too much came too fast with this chunk, after which so many bytes of a line are `held` until it ends. */
  isTooMuch(held: number): boolean;
}

function createIdleMeter(now: () => number): IdleMeter {
  let idleBytes = 0;
  /** What was held before. It counts once its line has turned out to say nothing. */
  let heldBytes = 0;
  let windowMs = now();

  return {
    begin(chunkBytes) {
      idleBytes += chunkBytes;
    },
    end() {
      idleBytes = heldBytes = 0;
    },
    isTooMuch(held) {
      idleBytes = Math.max(0, idleBytes + heldBytes - held);
      heldBytes = held;
      if (idleBytes <= mostIdleBytes) return false;
      const beganMs = windowMs;
      windowMs = now();
      idleBytes = 0;
      return windowMs - beganMs <= idleWindowMs;
    },
  };
}
