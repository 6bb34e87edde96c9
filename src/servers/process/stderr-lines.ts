import { lineFeed } from "../../wire/json/characters.ts";
import type { Readable } from "node:stream";

/** Who gets the lines, and within which limits. */
export interface StderrOptions {
  /** Called with each line, without its line end and cut at `maxLineBytes`. */
  readonly onLine: (line: string) => void;
  /** Called at most once per window, with the number of bytes dropped since the last call. */
  readonly onDropped?: (bytes: number) => void;
  readonly limits?: Partial<StderrLimits>;
}

/** Limits on the lines taken from stderr. */
export interface StderrLimits {
  /** Longer lines are cut: their ends go unread, and a line that never ends must not use up memory. */
  readonly maxLineBytes: number;
  /** How many of the last lines are kept for failures. */
  readonly keptLines: number;
  readonly windowMs: number;
  /** Further lines in the same window are dropped without being decoded. */
  readonly linesPerWindow: number;
  /** Beyond this, nothing is read until the window ends, so that a server that floods stderr has to wait. */
  readonly bytesPerWindow: number;
}

/**
 * 200 lines per second are more than anybody reads. Up to 40 MB/s are read and dropped, which takes a few per cent of
 * a core. A faster server is held back for less than a window at a time, which only one that misbehaves notices
 * (fault 73).
 */
export const defaultStderrLimits: StderrLimits = Object.freeze({
  maxLineBytes: 4096,
  keptLines: 20,
  windowMs: 250,
  linesPerWindow: 50,
  bytesPerWindow: 10 * 1024 * 1024,
});

/** The lines read so far. */
export interface StderrLines {
  /**
   * The last lines, oldest first, including the end of a flood and a last line without a line end: what a server said
   * before it failed.
   */
  tail(): readonly string[];
  /** Bytes dropped so far: the ends of long lines, and floods. */
  readonly droppedBytes: number;
}

/** Reads a server's stderr until the stream ends, whatever the server writes, because a full pipe would stop it. */
export function readStderr(stream: Readable, options: StderrOptions): StderrLines {
  const limits = { ...defaultStderrLimits, ...options.limits };
  const line = createLineBuffer(limits.maxLineBytes);
  const kept: string[] = [];
  const window = { lines: 0, bytes: 0, dropped: 0 };
  let droppedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  /** The end of what was dropped last; decoded only if somebody asks for the tail. */
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

  /** After a gap, the first bytes are the end of a line whose beginning was dropped. */
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
  /** Returns how many bytes did not fit. */
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
      // Copied, because a few bytes would otherwise keep their whole chunk in memory. Merged from time to time,
      // because bytes that arrive one by one must not become many parts.
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

/** The text of one line, without a character that was cut in two at the end. */
function decodeLine(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/\uFFFD$/, "")
    .replace(/\r$/, "");
}

/** The complete lines at the end of a dropped piece; its first line has lost its beginning. */
function lastLines(bytes: Buffer, maxLineBytes: number): readonly string[] {
  const lines = bytes.toString("utf8").split("\n").slice(1);
  if (lines.at(-1) === "") lines.pop();
  return lines.map((text) => decodeLine(Buffer.from(text).subarray(0, maxLineBytes)));
}
