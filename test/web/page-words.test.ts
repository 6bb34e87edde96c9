import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toSlug } from "../../src/config/words/slug.ts";
import { appUriOf, sandboxUrl, toAppPolicy, withPolicy } from "../../web/src/words/app-policy.ts";
import { isKeyOf } from "../../web/src/words/text/entry-path.ts";

describe("the entry of a server", () => {
  test("is found by the name that the gateway makes of its key", () => {
    for (const key of [
      "My Files",
      "my_files",
      "a.b",
      "GitHub",
      "  x  ",
      "Über Ordner",
      "a--",
      "-a",
      "é",
      "x".repeat(80),
    ])
      expect(isKeyOf(key, toSlug(key)), key).toBe(!toSlug(key).startsWith("server-"));
    expect([isKeyOf("GitHub", "github"), isKeyOf("my_files", "my-files")]).toEqual([false, false]);
    const characters = fc.constantFrom("a", "Z", "9", ".", "_", "-", " ", "é", "/");
    fc.assert(
      fc.property(fc.string({ unit: characters, minLength: 1, maxLength: 80 }), (key) => {
        const slug = toSlug(key);
        expect(isKeyOf(key, slug)).toBe(!slug.startsWith("server-"));
      }),
    );
  });
});

describe("the page of a tool", () => {
  test.each([
    [{ _meta: { ui: { resourceUri: "ui://a/b" } } }, "ui://a/b"],
    [{ _meta: { "ui/resourceUri": "ui://a/c" } }, "ui://a/c"],
    [{ _meta: { ui: { resourceUri: "https://a/b" } } }, undefined],
    [{ _meta: { ui: { resourceUri: 7 } } }, undefined],
    [{ _meta: null }, undefined],
    [{}, undefined],
  ])("of %j is %s", (definition, uri) => {
    expect(appUriOf(definition)).toBe(uri);
  });

  test("FAULT 35: may reach what it names host by host, and nothing that would end a directive or mean many", () => {
    const { text, reaches, refused } = toAppPolicy({
      csp: {
        connectDomains: ["https://api.example.com", "wss://live.example.com:8443", "https://a.com; script-src *", "*"],
        resourceDomains: [
          "https://*.example.com",
          "'unsafe-eval'",
          "http://plain.example.com",
          "https://cdn.example.com",
        ],
        frameDomains: ["https://frame.example.com"],
      },
    });
    expect(text).toContain("connect-src https://api.example.com wss://live.example.com:8443;");
    expect(text).toContain("script-src 'unsafe-inline' https://cdn.example.com;");
    expect(text).not.toMatch(/\*|unsafe-eval|http:|frame\.example/);
    expect(text.split("; ").every((directive) => /^[a-z-]+ \S/.test(directive))).toBe(true);
    expect(reaches).toEqual(["https://api.example.com", "wss://live.example.com:8443", "https://cdn.example.com"]);
    expect(refused).toEqual([
      "https://a.com; script-src *",
      "*",
      "https://*.example.com",
      "'unsafe-eval'",
      "http://plain.example.com",
      "https://frame.example.com",
    ]);
  });

  test("has no other policy for what is no list of texts", () => {
    const plainPolicy = toAppPolicy({}).text;
    expect(plainPolicy).toContain("connect-src 'none'");
    expect(toAppPolicy({ csp: { connectDomains: "https://a.com" as never } }).text).toBe(plainPolicy);
    expect(toAppPolicy({ csp: { connectDomains: [7] as never } }).reaches).toEqual([]);
  });

  test("has its policy before anything else in it", () => {
    const page = withPolicy("<!doctype html><html><head><script>1</script>", `img-src "x" 'none'`);
    expect(page.indexOf("Content-Security-Policy")).toBeLessThan(page.indexOf("<script>"));
    expect(page).toContain("content=\"img-src &quot;x&quot; 'none'\"");
  });

  test.each([
    ["http://127.0.0.1:3001/ui/", "http://localhost:3001/sandbox"],
    ["https://tools.example.com/ui/", "https://tools.example.com/sandbox"],
  ])("is shown for a dashboard at %s in %s", (page, frame) => {
    expect(sandboxUrl(new URL(page))).toBe(frame);
  });
});
