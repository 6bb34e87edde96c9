import type { Duplex } from "node:stream";

/**
 * Aborts with the signal, and when a command that reads along has closed its side of the connection. A connection
 * through the owner's door stays open in the other direction then, and no one reads the text that is written to it.
 */
export function untilReaderLeaves(socket: Duplex, closed: AbortSignal): AbortSignal {
  const left = new AbortController();
  if (socket.readableEnded) left.abort();
  else socket.once("end", () => left.abort());
  return AbortSignal.any([left.signal, closed]);
}
