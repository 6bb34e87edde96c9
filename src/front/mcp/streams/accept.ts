import type { IncomingMessage } from "node:http";

/** What a client takes as an answer to a POST. */
export interface Accepts {
  readonly json: boolean;
  readonly stream: boolean;
}

/**
 * Read liberally: who says nothing, or `*` + `/*`, gets JSON; streams only for those who name them, at once for those
 * who name them first.
 */
export function readAccept(request: IncomingMessage): Accepts {
  const { accept } = request.headers;
  if (accept === undefined) return { json: true, stream: false };
  const streamAt = accept.indexOf("text/event-stream");
  const jsonAt = accept.indexOf("application/json");
  if (streamAt !== -1 && jsonAt !== -1) return { stream: true, json: jsonAt < streamAt };
  const stream = streamAt !== -1 || accept.includes("text/*");
  return { stream, json: !stream || jsonAt !== -1 || accept.includes("*/*") || accept.includes("application/*") };
}
