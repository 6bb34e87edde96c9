import { carriageReturn, lineFeed, startsWithMark } from "../json/characters.ts";
import { GatheredBytes } from "../json/gathered-bytes.ts";
import { EventFields } from "./event-fields.ts";
import { createIdleMeter } from "./idle-meter.ts";

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
