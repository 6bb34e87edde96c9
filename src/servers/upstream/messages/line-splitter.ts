import { carriageReturn, lineFeed } from "../../../wire/json/characters.ts";
import { largeBytes, type LargeBuffers } from "../../../wire/json/large-buffers.ts";

/**
 * Splits a byte stream into lines without decoding it, in linear time whatever the chunks are (faults 71, 72).
 * `onLine` gets each line without its end (LF or CRLF); empty lines are skipped. When a line grows beyond
 * `limitBytes`, `onTooLong` is called once, and nothing after it (fault 70). The returned function takes a chunk, and
 * returns how many lines ended in it, including empty ones. A caller that passes `memory` gives up the chunks of
 * large lines, whose memory is released.
 */
export function createLineSplitter(
  limitBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
  memory?: LargeBuffers,
): (chunk: Buffer) => number {
  let parts: Buffer[] = [];
  let partBytes = 0;
  /**
   * A very large line is copied into this buffer as it arrives. Copying all of it at its end would hold up everybody
   * for a millisecond per megabyte.
   */
  let slab: Buffer | undefined;
  let ended = false;

  /** Keeps a chunk of a line that is not complete yet, or the end of one that began in an earlier chunk. */
  function keep(chunk: Buffer): void {
    const bytes = partBytes + chunk.length;
    if (bytes > (slab?.length ?? slabSizes[0])) moveToSlab(bytes);
    if (slab === undefined) parts.push(chunk);
    else {
      chunk.copy(slab, partBytes);
      memory?.free([chunk]);
    }
    partBytes = bytes;
  }

  function moveToSlab(neededBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(slabSizes.find((size) => size > neededBytes) ?? 2 * neededBytes);
    let at = 0;
    for (const part of slab === undefined ? parts : [slab.subarray(0, partBytes)]) {
      part.copy(larger, at);
      at += part.length;
    }
    memory?.free(slab === undefined ? parts : [slab]);
    parts = [];
    slab = larger;
  }

  /** Returns the line that was kept, and forgets it. */
  function take(): Buffer {
    const line = slab === undefined ? Buffer.concat(parts) : slab.subarray(0, partBytes);
    if (slab === undefined && line.length >= largeBytes) memory?.free(parts);
    forget();
    return line;
  }

  function forget(): void {
    parts = [];
    partBytes = 0;
    slab = undefined;
  }

  return (chunk) => {
    if (ended) return 0;
    let start = 0;
    let lines = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end === -1) break;
      if (partBytes === 0) deliver(chunk.subarray(start, end), onLine);
      else {
        keep(chunk.subarray(start, end));
        deliver(take(), onLine);
      }
      start = end + 1;
      lines += 1;
    }
    if (start === chunk.length) return lines;
    keep(start === 0 ? chunk : chunk.subarray(start));
    if (partBytes <= limitBytes) return lines;
    ended = true;
    forget();
    onTooLong();
    return lines;
  };
}

function deliver(line: Buffer, onLine: (line: Buffer) => void): void {
  const end = line.length > 0 && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
  if (end > 0) onLine(end === line.length ? line : line.subarray(0, end));
}

/**
 * Sizes of the buffer for a large line; shorter lines are kept as chunks. Memory that is never written costs nothing.
 */
const slabSizes = [2, 16, 128].map((megabytes) => megabytes * 1_048_576) as [number, ...number[]];
