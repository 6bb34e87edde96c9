import { lineFeed } from "../../wire/json/characters.ts";
import type { Readable } from "node:stream";

export interface StderrOptions {
  /** One line, without its end and cut at `maxLineBytes`. */
  readonly onLine: (line: string) => void;
  /** How many bytes were left out since it was last told: at most once per window. */
  readonly onDropped?: (bytes: number) => void;
  readonly limits?: Partial<StderrLimits>;
}

export interface StderrLimits {
  /** Longer lines are cut: nobody reads on, and a line without an end must not grow. */
  readonly maxLineBytes: number;
  /** How many last lines a failure shows. */
  readonly keptLines: number;
  readonly windowMs: number;
  /** Further lines of the same window are thrown away undecoded. */
  readonly linesPerWindow: number;
  /** Beyond this, nothing is read until the window ends: the server that floods waits. */
  readonly bytesPerWindow: number;
}

/**
 * 200 lines a second is more than anybody reads. A flood is read and thrown away at up to 40 MB/s, which costs a few
 * per cent of a core; a faster one is held back for less than a window at a time, which no honest server notices
 * (fault 73).
 */
export const defaultStderrLimits: StderrLimits = Object.freeze({
  maxLineBytes: 4096,
  keptLines: 20,
  windowMs: 250,
  linesPerWindow: 50,
  bytesPerWindow: 10 * 1024 * 1024,
});

export interface StderrLines {
  /**
   * The last lines, oldest first: what a server that failed said at last, also at the end of a flood or without a
   * line end.
   */
  tail(): readonly string[];
  /** Bytes left out so far: the ends of long lines, and floods. */
  readonly droppedBytes: number;
}

/** Reads a server's stderr always, whatever it writes, until the stream ends: a full pipe would stop the server. */
export function readStderr(stream: Readable, options: StderrOptions): StderrLines {
  const limits = { ...defaultStderrLimits, ...options.limits };
  const line = createLineBuffer(limits.maxLineBytes);
  const kept: string[] = [];
  const window = { lines: 0, bytes: 0, dropped: 0 };
  let droppedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  /** The end of what was thrown away last: decoded only when somebody asks for the tail. */
  let thrownAway: Buffer | undefined;

  function onData(chunk: Buffer): void {
    timer ??= setTimeout(nextWindow, limits.windowMs).unref();
    window.bytes += chunk.length;
    let rest = thrownAway ? skipLine(chunk) : chunk;
    while (rest.length > 0 && window.lines < limits.linesPerWindow) rest = takeLine(rest);
    if (rest.length > 0) throwAway(rest);
    if (window.bytes >= limits.bytesPerWindow) stream.pause();
  }

  function takeLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(lineFeed);
    drop(line.add(end === -1 ? bytes : bytes.subarray(0, end)));
    if (end === -1) return bytes.subarray(bytes.length);
    keep(line.take());
    return bytes.subarray(end + 1);
  }

  /** After a gap, what comes first is the end of a line whose beginning is lost. */
  function skipLine(bytes: Buffer): Buffer {
    if (window.lines >= limits.linesPerWindow) return bytes;
    const end = bytes.indexOf(lineFeed);
    if (end === -1) return bytes;
    drop(end + 1);
    thrownAway = undefined;
    return bytes.subarray(end + 1);
  }

  function throwAway(bytes: Buffer): void {
    drop(bytes.length + line.length);
    line.clear();
    thrownAway = bytes.subarray(-limits.maxLineBytes * 2);
  }

  function drop(bytes: number): void {
    droppedBytes += bytes;
    window.dropped += bytes;
  }

  function keep(text: string): void {
    window.lines += 1;
    kept.push(text);
    if (kept.length > limits.keptLines) kept.shift();
    options.onLine(text);
  }

  function nextWindow(): void {
    timer = undefined;
    const { dropped } = window;
    Object.assign(window, { lines: 0, bytes: 0, dropped: 0 });
    if (dropped > 0) options.onDropped?.(dropped);
    stream.resume();
  }

  function finish(): void {
    clearTimeout(timer);
    if (line.length > 0) keep(line.take());
    if (window.dropped > 0) options.onDropped?.(window.dropped);
    window.dropped = 0;
  }

  stream.on("data", onData);
  stream.once("close", finish);
  return {
    tail() {
      const last = thrownAway ? lastLines(thrownAway, limits.maxLineBytes) : line.peek();
      return [...kept, ...last].slice(-limits.keptLines);
    },
    get droppedBytes() {
      return droppedBytes;
    },
  };
}

interface LineBuffer {
  readonly length: number;
  /** Returns how many bytes found no room. */
  add(bytes: Buffer): number;
  take(): string;
  peek(): readonly string[];
  clear(): void;
}

function createLineBuffer(maxBytes: number): LineBuffer {
  let parts: Buffer[] = [];
  let length = 0;

  function clear(): void {
    parts = [];
    length = 0;
  }

  return {
    get length() {
      return length;
    },
    add(bytes) {
      const taken = bytes.subarray(0, maxBytes - length);
      // A copy: a few bytes would otherwise keep their whole chunk alive. One byte at a time must not make many parts.
      if (taken.length > 0)
        parts = parts.length < maxParts ? [...parts, Buffer.from(taken)] : [Buffer.concat([...parts, taken])];
      length += taken.length;
      return bytes.length - taken.length;
    },
    take() {
      const text = decodeLine(Buffer.concat(parts));
      clear();
      return text;
    },
    peek: () => (length > 0 ? [decodeLine(Buffer.concat(parts))] : []),
    clear,
  };
}

const maxParts = 32;

/** Text of one line. A character that was cut in two at the end is left out. */
function decodeLine(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/\uFFFD$/, "")
    .replace(/\r$/, "");
}

/** Whole lines at the end of a piece that was thrown away; its first one has lost its beginning. */
function lastLines(bytes: Buffer, maxLineBytes: number): readonly string[] {
  const lines = bytes.toString("utf8").split("\n").slice(1);
  if (lines.at(-1) === "") lines.pop();
  return lines.map((text) => decodeLine(Buffer.from(text).subarray(0, maxLineBytes)));
}
