import { carriageReturn, lineFeed } from "../../wire/json/characters.ts";
import { largeBytes, type LargeBuffers } from "../../wire/json/large-buffers.ts";

/**
 * Cuts a byte stream into lines without ever decoding it, in linear time however the bytes arrive (faults 71, 72).
 * `onLine` gets each line without its end (LF or CRLF); empty lines are skipped. `onTooLong` is called once, and
 * nothing after it, when a line grows beyond `limitBytes` (fault 70). Returns how many lines ended in the chunk,
 * empty ones too. Whoever gives `memory` gives up the chunks that a large line was in.
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
   * A very large line is put together as it comes: copied at its end, twenty megabytes hold up everybody for as many
   * milliseconds.
   */
  let slab: Buffer | undefined;
  let ended = false;

  function deliver(line: Buffer): void {
    const end = line.length > 0 && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    if (end > 0) onLine(end === line.length ? line : line.subarray(0, end));
  }

  /** A part of a line that goes on, or that began before. */
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

  /** The line that was kept. */
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
      if (partBytes === 0) deliver(chunk.subarray(start, end));
      else {
        keep(chunk.subarray(start, end));
        deliver(take());
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

/**
 * From the first on a line is put together as it comes. What is not used of such memory is never touched, so it costs
 * nothing.
 */
const slabSizes = [2, 16, 128].map((megabytes) => megabytes * 1_048_576) as [number, ...number[]];
