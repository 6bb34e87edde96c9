import type { IncomingMessage, ServerResponse } from "node:http";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { CachedText } from "../../operations/cached-text.ts";

export type Headers = Readonly<Record<string, string>>;

/**
 * A route's answer, with status 200 unless it says another. If it has an `ETag` header, a client that already has this
 * text gets 304.
 */
export interface Answer {
  readonly status?: 201;
  readonly headers: Headers;
  readonly body: Buffer | string;
}

export const noStore: Headers = { "Cache-Control": "no-store" };
/** Of lists of which other people get others, and that change all the time. */
export const listHeaders: Headers = { ...noStore, Vary: "Accept, Authorization, Origin" };
export const jsonType = "application/json; charset=utf-8";

/** A value as JSON. Numbers that JavaScript cannot hold keep their digits. */
export function jsonAnswer(value: unknown, headers: Headers = {}): Answer {
  return { headers: { "Content-Type": jsonType, ...headers }, body: stringifyExact(value) };
}

/** What was made, with the address where it is from now on. */
export function createdAnswer(location: string, answer: Answer): Answer {
  return { ...answer, status: 201, headers: { ...answer.headers, Location: location } };
}

/** JSON that already is bytes. Never cached by anybody. */
export function bytesAnswer(body: Buffer): Answer {
  return { headers: { "Content-Type": jsonType, "Cache-Control": "no-store" }, body };
}

/** May be cached by the client only, because other principals get other answers. */
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
 * `headers` are those of every answer. The answer's own take precedence. For a HEAD request, node:http leaves out the
 * body.
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
  response.writeHead(answer.status ?? 200, { ...headers, ...own, "Content-Type": type, "Content-Length": length });
  response.end(answer.body);
}

/** If-None-Match uses the weak comparison (RFC 9110 section 13.1.2). */
function hasCopy(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
