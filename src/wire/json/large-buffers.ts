import { MessageChannel } from "node:worker_threads";

/**
 * Releases the memory of large messages as soon as they have been used. V8 counts memory behind buffers as live until
 * a collection finds the buffers dead, and every twenty megabytes of it trigger a marking of the whole heap. For
 * results of a megabyte that costs more than all other work on them (bench/overhead).
 */
export interface LargeBuffers {
  /** Releases the memory of these buffers now; they are empty afterwards. The caller must be their only user. */
  free(buffers: readonly Buffer[]): void;
  /** Notes that the memory behind this buffer holds one message and nothing else. */
  adopt(buffer: Buffer): void;
  /**
   * Call when a message was written out. Releases the memory of those pieces that were adopted or are parts of an
   * adopted buffer.
   */
  written(pieces: readonly (string | Buffer)[]): void;
}

/**
 * The smallest buffer for which releasing pays off. It is larger than any single read, so the memory of such a
 * message was allocated here.
 */
export const largeBytes = 262_144;

/** One per gateway, because memory that is adopted at one place may be released at another. */
export function createLargeBuffers(): LargeBuffers {
  const adopted = new WeakSet<ArrayBufferLike>();
  let nowhere: { postMessage(value: undefined, transfer: ArrayBuffer[]): void } | undefined;

  /** The only way in Node 20 to release memory at once is to transfer it to a message port without a listener. */
  function release(memory: readonly ArrayBufferLike[]): void {
    if (memory.length > 0) (nowhere ??= openNowhere()).postMessage(undefined, memory as ArrayBuffer[]);
  }

  return {
    free: (buffers) => release(buffers.filter(isAlone).map((buffer) => buffer.buffer)),
    adopt: (buffer) => void adopted.add(buffer.buffer),
    written(pieces) {
      const done = new Set<ArrayBufferLike>();
      for (const piece of pieces) if (typeof piece !== "string" && adopted.delete(piece.buffer)) done.add(piece.buffer);
      release([...done]);
    },
  };
}

function openNowhere(): { postMessage(value: undefined, transfer: ArrayBuffer[]): void } {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.unref();
  return port1;
}

/** Small buffers share their memory with others, which must not be released. */
function isAlone(buffer: Buffer): boolean {
  return buffer.length > 0 && buffer.buffer.byteLength === buffer.length;
}
