import { carriageReturn, colon, lineFeed, space, startsWithMark } from "../json/characters.ts";
import { GatheredBytes } from "../json/gathered-bytes.ts";
import { isHeaderValue } from "../../kernel/header-value.ts";

const newline = Buffer.from("\n");

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
}

/**
 * Lines end with LF, CRLF or CR; comments are skipped; an event that the end of the stream cuts short is dropped, as
 * the standard says. `limitBytes` bounds one event (all its lines together).
 */
export function createEventStreamReader(limitBytes: number, sink: EventStreamSink): EventStreamReader {
  const unfinishedLine = new GatheredBytes();
  const data = new GatheredBytes();
  let hasData = false;
  let type = "";
  let id: string | undefined;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
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
    if (line.length === 0) endEvent();
    else readField(line);
  }

  function endEvent(): void {
    if (id !== undefined) lastEventId = id;
    if (hasData) {
      const whole = data.take();
      hasData = false;
      if (whole.length > 0) sink.onEvent(whole, type === "" ? "message" : type);
    }
    type = "";
  }

  function readField(line: Buffer): void {
    const nameEnd = line.indexOf(colon);
    if (nameEnd === 0) return;
    const name = line.toString("latin1", 0, nameEnd === -1 ? line.length : Math.min(nameEnd, 6));
    const valueStart = nameEnd === -1 ? line.length : nameEnd + (line[nameEnd + 1] === space ? 2 : 1);
    switch (name) {
      case "data":
        if (hasData) data.append(newline);
        hasData = true;
        data.append(line.subarray(valueStart));
        return;
      case "event":
        type = line.toString("utf8", valueStart, Math.min(line.length, valueStart + 100));
        return;
      case "id":
        id = sendableId(line.subarray(valueStart)) ?? id;
        return;
      case "retry": {
        const text = line.toString("latin1", valueStart, Math.min(line.length, valueStart + 12));
        if (/^\d{1,9}$/.test(text)) retryMs = Number(text);
        return;
      }
    }
  }

  function isTooLong(): boolean {
    if (unfinishedLine.length + data.length <= limitBytes) return false;
    ended = true;
    unfinishedLine.clear();
    data.clear();
    sink.onTooLong();
    return true;
  }

  function feed(chunk: Buffer): void {
    if (ended) return;
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
    if (start < chunk.length) {
      unfinishedLine.append(chunk.subarray(start));
      isTooLong();
    }
  }

  return {
    feed,
    get lastEventId() {
      return lastEventId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}

/** What no header may hold is ignored: the stream is then resumed after the id before it. */
function sendableId(bytes: Buffer): string | undefined {
  const id = bytes.length > longestId ? "\0" : bytes.toString("latin1");
  return isHeaderValue(id) ? id : undefined;
}

const longestId = 4_096;
