import type { Writable } from "node:stream";

/**
 * The reader of the output may leave before its end (`toolyard status | head -1`). Output after that is lost, and
 * nothing else happens: a gateway goes on serving, and a command ends as it would have. Other errors of these streams
 * are ignored as well, because there is nowhere to report them.
 */
export function ignoreBrokenPipes(...streams: readonly Writable[]): void {
  for (const stream of streams) stream.on("error", () => undefined);
}
