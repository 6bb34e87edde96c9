import { largeBytes, type LargeBuffers } from "../shared/large-buffers.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts a byte stream into lines without ever decoding it, in linear time however the bytes arrive (FAULTS.md 71, 72).
 * `onLine` gets each line without its end (LF or CRLF); empty lines are skipped. `onTooLong` is called once, and nothing
 * after it, when a line grows beyond `limitBytes` (FAULTS.md 70). Whoever gives `memory` gives up the chunks that a large line was in.
 */
export function createLineSplitter(
  limitBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
  memory?: LargeBuffers,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let ended = false;

  function deliver(line: Buffer): void {
    const end = line.length > 0 && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length;
    if (end > 0) onLine(end === line.length ? line : line.subarray(0, end));
  }

  return (chunk) => {
    if (ended) return;
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      if (parts.length === 0) {
        deliver(chunk.subarray(start, end));
      } else {
        parts.push(chunk.subarray(start, end));
        const line = Buffer.concat(parts);
        // The last chunk may hold the beginning of the next line.
        if (line.length >= largeBytes)
          memory?.free(end + 1 === chunk.length ? [...parts.slice(0, -1), chunk] : parts.slice(0, -1));
        parts = [];
        partBytes = 0;
        deliver(line);
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      parts.push(start === 0 ? chunk : chunk.subarray(start));
      partBytes += chunk.length - start;
      if (partBytes > limitBytes) {
        ended = true;
        parts = [];
        onTooLong();
      }
    }
  };
}
