import { stringifyExact } from "../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
import type { View } from "../catalog/model/view.ts";

/** An answer made from a view, written once, with its entity tag (RFC 9110 section 8.8.3). */
export interface CachedText {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface TextCache {
  of(view: View, key: string, make: () => unknown): CachedText;
}

/** Clients choose parts of the key, so that the number of answers kept per view is limited. */
const mostPerView = 32;

/** A text is kept for as long as the view that it was made from. */
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

/** A value as JSON text with its entity tag. Numbers that JavaScript cannot hold keep their digits. */
export function toCachedText(value: unknown): CachedText {
  return withEntityTag(stringifyExact(value));
}

/** A text with its entity tag. */
export function withEntityTag(text: string): CachedText {
  const bytes = Buffer.from(text, "utf8");
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"` };
}
