import type { Writable } from "node:stream";

/**
 * Whoever read the output may leave before its end (`toolyard status | head -1`): what is written after that is lost,
 * and nothing else happens. A gateway goes on serving, a command ends as it would have. Any other error of a stream
 * is as harmless: there is nowhere to tell of it.
 */
export function ignoreBrokenPipes(...streams: readonly Writable[]): void {
  for (const stream of streams) stream.on("error", () => undefined);
}
