import { stringifyExact } from "../../wire/json/exact-json.ts";
import { createHash } from "node:crypto";
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
  return withEntityTag(stringifyExact(value));
}

/** Any text with its entity tag. */
export function withEntityTag(text: string): CachedText {
  const bytes = Buffer.from(text, "utf8");
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"` };
}
