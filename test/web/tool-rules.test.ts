import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toSlug } from "../../src/config/slug.ts";
import { appUriOf, sandboxUrl, toAppPolicy, withPolicy } from "../../web/src/words/app-policy.ts";
import { hidingRules, isKeyOf, withHidden, withName, withoutRule } from "../../web/src/words/tool-rules.ts";

const file = `{
  // the servers
  "mcpServers": {
    "My Files": { "command": "x" }, // kept
    "mail": {
      "command": "y",
      "tools": { "deny": ["old_*" /* why */] },
    },
  },
}
`;

describe("rules for tools", () => {
  test("hide tools in the entries that there are, and leave comments and order as they were", () => {
    const hidden = withHidden(file, [
      { server: "My-Files", name: "rm" },
      { server: "mail", name: "send" },
      { server: "mail", name: "send" },
    ]);
    expect(hidden).toContain('"old_*", /* why */ "send"');
    expect(hidden).toContain("// kept");
    expect(hidingRules(hidden ?? "").map(({ server, name }) => `${server}:${name}`)).toEqual([
      "My Files:rm",
      "mail:old_*",
      "mail:send",
    ]);
  });

  test("find an entry by the name that the gateway makes of its key", () => {
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

  test("taken back leave the others, and are not taken back when they are others by now", () => {
    const [old] = hidingRules(file);
    if (old === undefined) throw new Error("there is a rule");
    expect(hidingRules(withoutRule(file, old) ?? "")).toEqual([]);
    expect(withoutRule(file.replace("old_*", "new_*"), old)).toBeUndefined();
  });

  test("are not written where there is no entry, or something else stands in their place", () => {
    expect(withHidden(file, [{ server: "nobody", name: "x" }])).toBeUndefined();
    expect(withHidden('{"mcpServers":{"a":{"tools":{"deny":"x"}}}}', [{ server: "a", name: "y" }])).toBeUndefined();
    expect(withHidden("", [{ server: "a", name: "y" }])).toBeUndefined();
    expect(hidingRules("")).toEqual([]);
  });

  test("give a tool another name, and its own one back", () => {
    const renamed = withName(file, { server: "mail", name: "send" }, "post");
    expect(renamed).toContain('"rename": {"send":"post"}');
    expect(withName(renamed ?? "", { server: "mail", name: "send" }, "")).not.toContain('"post"');
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
