import type { IncomingMessage, ServerResponse } from "node:http";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { CachedText } from "./cached-text.ts";

export type Headers = Readonly<Record<string, string>>;

/** What a route answers with status 200. With an `ETag` among its headers, whoever has that text already gets 304. */
export interface Answer {
  readonly headers: Headers;
  readonly body: Buffer | string;
}

export const jsonType = "application/json; charset=utf-8";

/** A value as JSON; exact numbers stay as they are. */
export function jsonAnswer(value: unknown, headers: Headers = {}): Answer {
  return { headers: { "Content-Type": jsonType, ...headers }, body: stringifyExact(value) };
}

/** JSON that is bytes already; never kept by anybody on the way. */
export function bytesAnswer(body: Buffer): Answer {
  return { headers: { "Content-Type": jsonType, "Cache-Control": "no-store" }, body };
}

/** Private: another principal's is another. */
export function cachedAnswer({ bytes, etag }: CachedText): Answer {
  return {
    headers: {
      "Content-Type": jsonType,
      ETag: etag,
      "Cache-Control": "private, no-cache",
      Vary: "Authorization, Origin",
    },
    body: bytes,
  };
}

/**
 * `headers` are those of every answer; the answer's own take their place where both have one. node:http sends no body
 * to a HEAD request.
 */
export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Headers,
  answer: Answer,
): void {
  if (response.destroyed || response.headersSent) return;
  const { "Content-Type": type = jsonType, ...own } = answer.headers;
  const { ETag: etag } = own;
  if (etag !== undefined && hasCopy(request.headers["if-none-match"], etag)) {
    response.writeHead(304, { ...headers, ...own });
    response.end();
    return;
  }
  const length = Buffer.byteLength(answer.body);
  response.writeHead(200, { ...headers, ...own, "Content-Type": type, "Content-Length": length });
  response.end(answer.body);
}

/** If-None-Match compares weakly (RFC 9110 section 13.1.2). */
function hasCopy(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
