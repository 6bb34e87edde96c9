import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerSlug } from "../../kernel/ids.ts";
import {
  isRawUri,
  parseResourceUri,
  toNativeTemplate,
  toNativeUri,
  toPipeUri,
  toRawUri,
  toSkillUri,
} from "./resource-uri.ts";

const slug = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/).map((text) => text as ServerSlug);
const uri = fc.oneof(
  fc.webUrl(),
  fc.string({ minLength: 1, unit: "grapheme" }),
  fc.constantFrom(
    "ui://app/main",
    "file:///a b|c",
    "other|bad://x",
    "toolyard://other/x",
    "bad://%2F%",
    "skill://acme/refunds/SKILL.md",
  ),
);

test("every form leads back to the server and to its URI, byte for byte", () => {
  fc.assert(
    fc.property(slug, uri, (server, original) => {
      expect(parseResourceUri(toPipeUri(server, original))).toEqual({ server, uri: original });
      expect(parseResourceUri(toNativeUri(server, original))).toEqual({ server, uri: original });
      expect(parseResourceUri(toSkillUri(server, original))).toEqual({ server, uri: original });
      expect(parseResourceUri(toRawUri(server, original))).toEqual({ server, uri: original });
    }),
  );
});

test("native URIs are valid ones, and those of UIs keep their scheme", () => {
  expect(toNativeUri("maps" as ServerSlug, "ui://view/main.html?x=1")).toBe("ui://maps/view/main.html?x=1");
  expect(toNativeUri("files" as ServerSlug, "file:///a b|c")).toBe("toolyard://files/file%3A%2F%2F%2Fa%20b%7Cc");
  fc.assert(
    fc.property(slug, fc.webUrl(), (server, original) => {
      expect(URL.canParse(toNativeUri(server, original))).toBe(true);
    }),
  );
  expect(toNativeUri("a" as ServerSlug, "x://\uD800")).toBe("toolyard://a/x%3A%2F%2F%EF%BF%BD");
});

test("an address of a skill ends as the server's own does, and only one form is raw", () => {
  const server = "billing" as ServerSlug;
  expect(toSkillUri(server, "skill://acme/refunds/SKILL.md")).toBe("skill://billing/acme/refunds/SKILL.md");
  expect(toNativeUri(server, "skill://acme/refunds/SKILL.md")).toBe("skill://billing/acme/refunds/SKILL.md");
  expect(toSkillUri(server, "docs://a b/SKILL.md")).toBe("toolyard://billing/raw/docs://a b/SKILL.md");
  expect(isRawUri(toSkillUri(server, "docs://a/SKILL.md"))).toBe(true);
  for (const other of [toNativeUri(server, "docs://raw/x"), "skill://billing/raw/SKILL.md", "raw/x", "toolyard://raw/"])
    expect(isRawUri(other)).toBe(false);
});

test("a template stands as it is, to be filled in, behind the server that it leads to", () => {
  expect(toNativeTemplate("db" as ServerSlug, "db://{table}/{id}{?q}")).toBe("toolyard://db/raw/db://{table}/{id}{?q}");
  expect(toNativeTemplate("db" as ServerSlug, "ui://{view}/main")).toBe("ui://db/{view}/main");
  expect(parseResourceUri("toolyard://db/raw/db://users/R%26D")).toEqual({ server: "db", uri: "db://users/R%26D" });
  expect(parseResourceUri("toolyard://db/db%3A%2F%2Fusers%2F7")).toEqual({ server: "db", uri: "db://users/7" });
});

test("a template that a client filled in leads to what the server's own template would have become", () => {
  const literal = fc.oneof(
    fc.constantFrom(
      "ui://",
      "skill://",
      "note:///",
      "toolyard://db/raw/",
      "raw/",
      "%2F",
      "100%",
      "|",
      "/",
      "?x=1",
      "#",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[{}]/g, "")),
  );
  const expression = fc
    .tuple(fc.constantFrom("", "+", "#", "/", ".", "?", "&"), fc.subarray(["a", "b", "c"], { minLength: 1 }))
    .map(([operator, names]) => `{${operator}${names.join(",")}}`);
  const template = fc.array(fc.oneof(literal, expression), { maxLength: 6 }).map((parts) => parts.join(""));
  const value = fc.oneof(
    fc.constantFrom("docs/readme", "100%", "R&D", "1&2", "%2F", "a b", "ü"),
    fc.string({ unit: "grapheme" }),
  );
  fc.assert(
    fc.property(slug, template, fc.record({ a: value, b: value, c: value }), (server, own, values) => {
      const filledIn = new UriTemplate(toNativeTemplate(server, own)).expand(values);
      expect(parseResourceUri(filledIn)).toEqual({ server, uri: new UriTemplate(own).expand(values) });
    }),
    { numRuns: 1_000 },
  );
});

test("what was never given out is nobody's", () => {
  for (const text of [
    "",
    "|x",
    "toolyard://",
    "toolyard:///x",
    "toolyard://a",
    "toolyard://a b/x",
    "toolyard://a/%E0%A4%A",
    "ui://a",
    "http://a/x",
    "../a|x",
  ])
    expect(parseResourceUri(text), text).toBeUndefined();
});
