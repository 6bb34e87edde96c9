import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { toNamespace } from "../../../config/words/slug.ts";
import { buildNames, type NamedCatalog } from "./names.ts";

const offer = (server: string, ...tools: string[]): NamedCatalog => ({
  catalog: sampleInstance(
    server,
    tools.map((name) => ({ name })),
  ),
  namespace: toNamespace(server),
});
const clientName = /^[A-Za-z0-9_-]{1,64}$/;

/** What must hold for every table, whatever the names. */
function checkTable(offers: readonly NamedCatalog[]): void {
  const names = buildNames(offers);
  const flat = new Set<string>();
  const namespaced = new Set<string>();
  for (const tool of names.tools) {
    expect(names.find(tool.path)).toMatchObject({ kind: "one", tool });
    for (const [listing, name, seen] of [
      ["flat", names.flatName(tool), flat],
      ["namespaced", names.namespacedName(tool), namespaced],
    ] as const) {
      expect(name).toMatch(clientName);
      expect(seen.has(name), name).toBe(false);
      seen.add(name);
      expect(names.find(name, listing)).toMatchObject({ kind: "one", tool });
    }
    // Any other spelling means this tool, or is ambiguous, but never means a different tool. Names that no client
    // accepts have only the spelling with dots.
    const joined = [
      `${tool.server}-${tool.definition.name}`,
      `${toNamespace(tool.server)}__${tool.definition.name}`,
    ].filter((name) => clientName.test(name));
    for (const spelling of [...joined, `${toNamespace(tool.server)}.${tool.definition.name}`]) {
      const found = names.find(spelling);
      if (found.kind === "several") expect(found.tools.length).toBeGreaterThan(1);
      else if (found.kind === "one" && found.tool !== tool)
        expect([found.tool.path, names.flatName(found.tool)]).toContain(spelling);
    }
  }
}

describe("what is nearly a name", () => {
  const names = buildNames([
    offer("files", "a/b", "Read", "read", "Stat"),
    offer("Work-Mail", "send"),
    offer("x", "y"),
  ]);

  test.each([
    ["files/Stat", "files:Stat"],
    ["files/stat", "files:Stat"],
    ["FILES:STAT", "files:Stat"],
    [" files:Stat\n", "files:Stat"],
    ["files/a/b", "files:a/b"],
    ["files:A/B", "files:a/b"],
    ["work-mail/send", "Work-Mail:send"],
    ["WORK-MAIL-SEND", "Work-Mail:send"],
    ["Work_Mail__Send", "Work-Mail:send"],
    ["files/read", "files:read"],
    ["files/Read", "files:Read"],
  ])("%j is %s", (spelling, path) => {
    expect(names.find(spelling)).toMatchObject({ kind: "one", tool: { path } });
  });

  test("letters in a case that tells no two tools apart mean both", () => {
    expect(names.find("files/READ")).toMatchObject({
      kind: "several",
      tools: [{ path: "files:Read" }, { path: "files:read" }],
    });
  });

  test.each(["files:a:b", "files|Stat", "file/sStat", "/files:Stat", "files//Stat", "x/", "/y", "", " ", "STAT"])(
    "%j is none",
    (spelling) => {
      expect(names.find(spelling)).toEqual({ kind: "none" });
    },
  );
});

describe("a table of names", () => {
  test("FAULT 53: 25 servers with 25 tools each, joined with every separator, keep 625 names apart", () => {
    const slugs = ["-", ".", "_", "__", "_1mcp_"].flatMap((mark) => [
      `a${mark}b`,
      `a${mark}b${mark}c`,
      `b${mark}c`,
      `a${mark}`,
      `a${mark}${mark}b`,
    ]);
    const tools = ["-", ":", "|", "/", "__"].flatMap((mark) => [
      `b${mark}c`,
      `${mark}c`,
      `c${mark}`,
      mark,
      `b${mark}c${mark}d`,
    ]);
    const offers = slugs.map((slug) => offer(slug, ...tools));
    expect(buildNames(offers).tools).toHaveLength(625);
    checkTable(offers);
  });

  test("a spelling with a dot is no other tool's for looking like a name that cannot be", () => {
    checkTable([offer("a.", "-a", "a", " ")]);
  });

  test("holds for any names", () => {
    const slug = fc.stringMatching(/^[ab][ab._-]{0,5}$/);
    const tool = fc.oneof(fc.stringMatching(/^[ab._:|/-]{1,6}$/), fc.string({ minLength: 1, maxLength: 100 }));
    fc.assert(
      fc.property(
        fc.uniqueArray(slug, { maxLength: 6 }),
        fc.uniqueArray(tool, { minLength: 1, maxLength: 6 }),
        (slugs, tools) => checkTable(slugs.map((server) => offer(server, ...tools))),
      ),
      { numRuns: 150 },
    );
  });

  test("the order of the servers decides no name", () => {
    const offers = [offer("a-b", "c"), offer("a", "b-c", "x"), offer("b", "x", "y z")];
    const there = buildNames(offers);
    const back = buildNames([...offers].reverse());
    for (const tool of there.tools) expect(back.flatName(tool)).toBe(there.flatName(tool));
  });

  test("two tools that would share a spelling both get a hash, and the plain spelling names both", () => {
    const names = buildNames([offer("a-b", "c"), offer("a", "b-c")]);
    expect(names.tools.map((tool) => names.flatName(tool))).toEqual([
      expect.stringMatching(/^a-b-c_[0-9a-f]{8}$/),
      expect.stringMatching(/^a-b-c_[0-9a-f]{8}$/),
    ]);
    expect(names.find("a-b-c")).toMatchObject({ kind: "several", tools: [{ path: "a-b:c" }, { path: "a:b-c" }] });
    expect(names.find("a-b-c", "flat")).toMatchObject({ kind: "several" });
  });

  test("a bare name is found when exactly one tool has it", () => {
    const names = buildNames([offer("a", "only", "both"), offer("b", "both")]);
    expect(names.find("only")).toMatchObject({ kind: "bare", tool: { path: "a:only" } });
    expect(names.find("both")).toMatchObject({ kind: "several" });
    for (const name of ["neither", "", "__proto__", "constructor", "toString"])
      expect(names.find(name)).toEqual({ kind: "none" });
  });

  test("a list's own name means what the list shows, even when it is another tool's spelling", () => {
    // `a` shows `x` as `a-x`, which is also the bare name of b's tool.
    const names = buildNames([offer("a", "x"), offer("b", "a-x")]);
    expect(names.find("a-x", "flat")).toMatchObject({ kind: "one", tool: { path: "a:x" } });
    expect(names.find("b:a-x")).toMatchObject({ kind: "one", tool: { path: "b:a-x" } });
  });
});
