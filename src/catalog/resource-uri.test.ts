import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerSlug } from "../shared/ids.ts";
import { parseResourceUri, toNativeTemplate, toNativeUri, toPipeUri } from "./resource-uri.ts";

const slug = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/).map((text) => text as ServerSlug);
const uri = fc.oneof(
  fc.webUrl(),
  fc.string({ minLength: 1, unit: "grapheme" }),
  fc.constantFrom("ui://app/main", "file:///a b|c", "other|bad://x", "toolyard://other/x", "bad://%2F%"),
);

test("every form leads back to the server and to its URI, byte for byte", () => {
  fc.assert(
    fc.property(slug, uri, (server, original) => {
      expect(parseResourceUri(toPipeUri(server, original))).toEqual({ server, uri: original });
      expect(parseResourceUri(toNativeUri(server, original))).toEqual({ server, uri: original });
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

test("a template keeps its expressions to be filled in", () => {
  expect(toNativeTemplate("db" as ServerSlug, "db://{table}/{id}?q={q}")).toBe(
    "toolyard://db/db%3A%2F%2F{table}%2F{id}%3Fq%3D{q}",
  );
  expect(parseResourceUri("toolyard://db/db%3A%2F%2Fusers%2F7")).toEqual({ server: "db", uri: "db://users/7" });
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
