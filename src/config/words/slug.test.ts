import fc from "fast-check";
import { expect, test } from "vitest";
import { isServerSlug } from "../../kernel/ids.ts";
import { lookAlikeForm, toNamespace, toSlug, withKeyHash } from "./slug.ts";

test.each([
  ["context7", "context7"],
  ["My.Server_1-x", "My.Server_1-x"],
  ["my server", "my-server"],
  ["@scope/name", "scope-name"],
  ["a:b", "a-b"],
  ["_hidden", "hidden"],
  ["Café", "Caf"],
  ["x".repeat(80), "x".repeat(63)],
])("the key %j becomes the slug %j", (key, slug) => {
  expect(toSlug(key)).toBe(slug);
});

test("every key has a slug, the same each time, also with a hash", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (key) => {
      const slug = toSlug(key);
      return isServerSlug(slug) && slug === toSlug(key) && isServerSlug(withKeyHash(slug, key));
    }),
  );
});

test("FAULT 54: keys that differ in case, Unicode form, width, invisible or look-alike letters have one form", () => {
  const forms = [
    "paypal",
    "PayPal",
    "p\u0430yp\u0430l",
    "\u0440\u0430\u0443\u0440\u0430l",
    "ｐａｙｐａｌ",
    "pay\u200bpal",
    "p\u03b1ypal",
  ].map(lookAlikeForm);
  expect(new Set(forms)).toEqual(new Set(["paypal"]));
  expect(lookAlikeForm("caf\u00e9")).toBe(lookAlikeForm("cafe\u0301"));
  expect(lookAlikeForm("github")).not.toBe(lookAlikeForm("gitlab"));
});

test.each([
  ["gmail-work", "gmail_work"],
  ["gmailWork", "gmail_work"],
  ["My.Server--x", "my_server_x"],
  ["a-", "a"],
])("the slug %j has the namespace %j", (slug, namespace) => {
  expect(toNamespace(slug)).toBe(namespace);
});
