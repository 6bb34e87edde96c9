import { createHash } from "node:crypto";
import { isServerSlug, replacedForSlug, type ServerSlug } from "../../kernel/ids.ts";

/**
 * A server's key as a slug: unchanged when it already is one, otherwise with other characters replaced
 * (docs/design.md, "Names").
 */
export function toSlug(key: string): ServerSlug {
  if (isServerSlug(key)) return key;
  const replaced = replacedForSlug(key);
  if (isServerSlug(replaced)) return replaced;
  return `server-${shortHash(key)}` as ServerSlug;
}

/** The slug of a server whose own slug an earlier server took: still unique and readable. */
export function withKeyHash(slug: ServerSlug, key: string): ServerSlug {
  return `${slug.slice(0, 50)}-${shortHash(key)}` as ServerSlug;
}

function shortHash(key: string): string {
  return createHash("sha256").update(key, "utf8").digest("hex").slice(0, 8);
}

/**
 * A form that two keys share when a person cannot tell them apart: without case, Unicode form, width, and with
 * Cyrillic or Greek letters that look like Latin ones replaced (fault 54). Only for comparing, never shown.
 */
export function lookAlikeForm(key: string): string {
  let form = "";
  for (const character of key.normalize("NFKC").toLowerCase().normalize("NFC")) {
    form += looksLike[character] ?? character;
  }
  return form.replace(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g, "");
}

/**
 * Lower-case letters of other scripts that most fonts draw like a Latin one (part of Unicode's UTS 39 confusables).
 */
const looksLike: Readonly<Record<string, string>> = {
  // Cyrillic.
  а: "a",
  в: "b",
  с: "c",
  ԁ: "d",
  е: "e",
  һ: "h",
  і: "i",
  ї: "i",
  ј: "j",
  к: "k",
  ӏ: "l",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  ԛ: "q",
  ѕ: "s",
  т: "t",
  ѵ: "v",
  ԝ: "w",
  х: "x",
  у: "y",
  ү: "y",
  // Greek.
  α: "a",
  β: "b",
  ε: "e",
  η: "n",
  ι: "i",
  κ: "k",
  μ: "m",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  γ: "y",
  ζ: "z",
  // Latin letters that look like others.
  ı: "i",
  ɑ: "a",
  ɡ: "g",
  ǀ: "l",
};

/**
 * The default namespace: `gmail-work` and `gmailWork` become `gmail_work`. At most 48 characters, so that a tool's
 * name still fits behind it.
 */
export function toNamespace(slug: string): string {
  return slug
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 48);
}

/**
 * `*` matches any sequence of characters. Takes linear time, because no regular expression is made from configuration.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
