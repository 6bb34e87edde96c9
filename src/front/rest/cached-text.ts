import { stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { View } from "../../catalog/model/view.ts";

/** An answer that holds for a view, made once, with its entity tag (RFC 9110 section 8.8.3). */
export interface CachedText {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface TextCache {
  of(view: View, key: string, make: () => unknown): CachedText;
}

/** Callers choose parts of the key: more answers than this are not kept per view. */
const mostPerView = 32;

/** Texts live as long as the view that they were made from. */
export function createTextCache(): TextCache {
  const memo = new WeakMap<View, Map<string, CachedText>>();
  return {
    of(view, key, make) {
      let texts = memo.get(view);
      if (texts === undefined) memo.set(view, (texts = new Map()));
      const known = texts.get(key);
      if (known !== undefined) return known;
      const made = toCachedText(make());
      if (texts.size >= mostPerView) texts.delete(texts.keys().next().value as string);
      texts.set(key, made);
      return made;
    },
  };
}

export function toCachedText(value: unknown): CachedText {
  const bytes = Buffer.from(stringifyExact(value), "utf8");
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"` };
}

/** Answers with the text, or with 304 when the client has it. Private: another principal's is another. */
export function sendCached(request: FastifyRequest, reply: FastifyReply, text: CachedText): void {
  reply.header("ETag", text.etag).header("Cache-Control", "private, no-cache").header("Vary", "Authorization, Origin");
  if (matches(request.headers["if-none-match"], text.etag)) void reply.status(304).send();
  else void reply.header("Content-Type", "application/json; charset=utf-8").send(text.bytes);
}

/** If-None-Match compares weakly (RFC 9110 section 13.1.2). */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
