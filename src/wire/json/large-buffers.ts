import { MessageChannel } from "node:worker_threads";

/**
 * The memory of large messages, given back as soon as it has served. V8 counts what stands behind buffers as old
 * until it has looked for the dead ones, so every twenty megabytes of them make it mark the whole heap: ten results
 * of a megabyte, which costs more than all else that is done with them (bench/overhead).
 */
export interface LargeBuffers {
  /** Gives the memory of these back now; they are empty afterwards. Only for who knows that nobody else looks at it. */
  free(buffers: readonly Buffer[]): void;
  /** Notes that the memory behind this buffer holds one message and nothing else. */
  adopt(buffer: Buffer): void;
  /** The message has been written out: frees what was adopted among the pieces, or stands behind them. */
  written(pieces: readonly (string | Buffer)[]): void;
}

/** From here on it pays. Larger than what is ever read at once, so that such a message was put together by us. */
export const largeBytes = 262_144;

export function createLargeBuffers(): LargeBuffers {
  const adopted = new WeakSet<ArrayBufferLike>();
  let nowhere: { postMessage(value: undefined, transfer: ArrayBuffer[]): void } | undefined;

  /** Node 20 has one way to let go of memory at once: handing it to a port that nobody listens to. */
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

/** Small buffers share one piece of memory with others. */
function isAlone(buffer: Buffer): boolean {
  return buffer.length > 0 && buffer.buffer.byteLength === buffer.length;
}
