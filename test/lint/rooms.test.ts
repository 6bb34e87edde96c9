import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { houseTable, roomsTable } from "../../scripts/docs/house-table.mjs";
import { placesOf, upwards } from "../../scripts/house-rule.mjs";
import { planned, wings } from "../../scripts/house.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const oxlint = join(root, "node_modules/.bin/oxlint");
const importRule = "house(downwards)";
const packageRule = "eslint(no-restricted-imports)";

interface LintReport {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
  readonly number_of_files: number;
}

/** A house of its own, with our rules and nothing else in it: a violation planted in the real one could stay there. */
describe("the room rule", () => {
  let house: string;

  beforeAll(() => {
    house = mkdtempSync(join(tmpdir(), "toolyard-house-"));
    // Without types: the rules that need them are not the ones in question, and would want the project's own tools
    // beside them.
    const { options: _typeAware, ...rules } = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as Record<
      string,
      unknown
    >;
    const jsPlugins = [join(root, "scripts/lint-rules.mjs")];
    writeFileSync(join(house, ".oxlintrc.json"), JSON.stringify({ ...rules, jsPlugins }));
  });
  afterAll(() => rmSync(house, { recursive: true, force: true }));

  /** The rules that planted files break, for each of them, by one run. */
  function lint(files: Readonly<Record<string, string>>): (file: string) => readonly string[] {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(house, file)), { recursive: true });
      writeFileSync(join(house, file), text);
    }
    const { stdout } = spawnSync(oxlint, ["--format=json", ...Object.keys(files)], { cwd: house, encoding: "utf8" });
    const { diagnostics, number_of_files: looked } = JSON.parse(stdout) as LintReport;
    expect(looked).toBe(Object.keys(files).length);
    for (const file of Object.keys(files)) rmSync(join(house, file));
    return (file) => diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code);
  }

  /** Rooms that have no rooms in them: every pair of neighbours in the list, and pairs that lie far apart. */
  const places = placesOf().filter((place) => !placesOf().some((other) => other.startsWith(`${place}/`)));
  const planted = places.flatMap((place, index) => {
    const above = places[index - 1];
    const below = places[index + 1];
    return [
      ...(above === undefined ? [] : [[place, above]]),
      ...(index > 1 ? [[place, places[0] as string]] : []),
      ...(below === undefined ? [] : [[place, below]]),
      [place, "kernel/text"],
    ].filter(([from, to]) => from !== to);
  });
  const order = (place = "") => places.indexOf(place);
  const climbs = planted.filter(([from, to]) => order(to) < order(from));
  const descents = planted.filter(([from, to]) => order(to) > order(from));

  /** How a file two folders deep in `from` names one in `to`. */
  function specifier(from: string, to: string): string {
    return relative(`src/${from}/inner`, `src/${to}/thing.ts`);
  }

  const importing = (path: string) => `import { thing } from "${path}";\nexport const other = thing;\n`;
  const pathOf = (from = "", to = "") => `src/${from}/inner/${to.replaceAll("/", "-")}.ts`;

  /** All pairs are planted together: a run takes a quarter of a second, whatever it looks at. */
  let brokenBy: (file: string) => readonly string[];
  beforeAll(() => {
    const pairs = planted.map(([from = "", to = ""]) => [pathOf(from, to), importing(specifier(from, to))]);
    brokenBy = lint(Object.fromEntries(pairs) as Record<string, string>);
  });

  test.each(climbs)("%s may not import %s", (from, to) => {
    expect(brokenBy(pathOf(from, to))).toContain(importRule);
  });

  test.each(descents)("%s may import %s", (from, to) => {
    expect(brokenBy(pathOf(from, to))).not.toContain(importRule);
  });

  test("an import in any form is looked at, and one of a test is not", () => {
    const above = "../../cli/serve/thing.ts";
    const broken = lint({
      "src/people/identity/type.ts": `import type { thing } from "${above}";\nexport type other = thing;\n`,
      "src/people/identity/again.ts": `export { thing } from "${above}";\n`,
      "src/people/identity/late.ts": `export const late = async () => await import("${above}");\n`,
      "src/people/identity/any.test.ts": importing(above),
    });
    for (const name of ["type", "again", "late"])
      expect(broken(`src/people/identity/${name}.ts`)).toContain(importRule);
    expect(broken("src/people/identity/any.test.ts")).not.toContain(importRule);
  });

  test("a wing's own files import its rooms and are imported by them, and grounds lie below", () => {
    expect(upwards("config/load.ts", "config/file/file.ts")).toBeUndefined();
    expect(upwards("config/file/file.ts", "config/load.ts")).toBeUndefined();
    expect(upwards("config/load.ts", "people/identity/token.ts")).toBe("config lies below people");
    expect(upwards("store/sql/client/sql-store.ts", "store/files/file-store.ts")).toBe(
      "store/sql lies below store/files",
    );
    expect(upwards("store/store.ts", "store/files/file-store.ts")).toBe("store's own files lie below its rooms");
  });

  test("the ground of a wing lies below its rooms", () => {
    const broken = lint({
      "src/store/room.ts": importing("./files/thing.ts"),
      "src/store/above.ts": importing("../people/identity/thing.ts"),
      "src/store/below.ts": importing("../servers/instance/thing.ts"),
      "src/store/files/own.ts": importing("../thing.ts"),
    });
    expect(broken("src/store/room.ts")).toContain(importRule);
    expect(broken("src/store/above.ts")).toContain(importRule);
    expect(broken("src/store/below.ts")).not.toContain(importRule);
    expect(broken("src/store/files/own.ts")).not.toContain(importRule);
  });

  test("only some rooms may import the protocol's packages", () => {
    const text = 'import { Client } from "@modelcontextprotocol/client";\nexport const other = Client;\n';
    const broken = lint({ "src/engine/calls/planted.ts": text, "src/servers/upstream/planted.ts": text });
    expect(broken("src/engine/calls/planted.ts")).toContain(packageRule);
    expect(broken("src/servers/upstream/planted.ts")).not.toContain(packageRule);
  });

  test("only config and cli read the environment", () => {
    const text = "export const home = process.env.HOME;\n";
    const broken = lint({ "src/engine/calls/planted.ts": text, "src/cli/planted.ts": text });
    expect(broken("src/engine/calls/planted.ts")).toContain("node(no-process-env)");
    expect(broken("src/cli/planted.ts")).not.toContain("node(no-process-env)");
  });

  test(".oxlintrc.json is what scripts/lint-config.mjs writes", () => {
    const before = readFileSync(join(root, ".oxlintrc.json"), "utf8");
    spawnSync(process.execPath, [join(root, "scripts/lint-config.mjs")]);
    expect(readFileSync(join(root, ".oxlintrc.json"), "utf8")).toBe(before);
  });
});

describe("the house", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );

  test("every folder is in the list, and every place of the list has files or is planned", () => {
    const folders = new Set(sources.map((file) => dirname(file)).filter((folder) => folder !== "."));
    const places = placesOf();
    expect([...folders].filter((folder) => !places.includes(folder))).toEqual([]);
    const empty = places.filter((place) => !existsSync(join(root, "src", place)));
    expect(empty.sort()).toEqual([...planned].sort());
  });

  test("a folder has at most 16 entries, tests and data not counted", () => {
    const crowded = placesOf()
      .filter((place) => existsSync(join(root, "src", place)))
      .map((place) => {
        const entries = readdirSync(join(root, "src", place), { withFileTypes: true });
        const counted = entries.filter((entry) => entry.isDirectory() || /(?<!\.test)\.ts$/.test(entry.name));
        return { place, entries: counted.length };
      })
      .filter(({ entries }) => entries > 16);
    expect(crowded).toEqual([]);
  });

  test("no file name stands twice", () => {
    const names = sources.map((file) => basename(file));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("ARCHITECTURE.md has its table", async () => {
    expect(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")).toContain(houseTable(wings));
  });

  const built = wings.filter(({ name }) => existsSync(join(root, "src", name)));

  test.each(built)("$name has an architecture page, which begins with the table of its rooms", (wing) => {
    const text = readFileSync(join(root, `docs/architecture/${wing.name}.md`), "utf8");
    const [title, marker, table] = text.split("\n\n");
    expect(title).toMatch(new RegExp(`^# ${wing.name}: `));
    expect(marker).toMatch(/^<!-- rooms: /);
    expect(table).toBe(roomsTable(wing));
    expect(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")).toContain(`(docs/architecture/${wing.name}.md)`);
  });

  test("ARCHITECTURE.md has at most 1,600 words, and each page behind it 700", () => {
    const pages = readdirSync(join(root, "docs/architecture")).map((name) => `docs/architecture/${name}`);
    const counts = ["ARCHITECTURE.md", ...pages].map((page) => {
      const words = readFileSync(join(root, page), "utf8")
        .split(/\s+/)
        .filter((word) => /[\p{L}\d]/u.test(word));
      return { page, words: words.length };
    });
    const most = (page: string) => (page === "ARCHITECTURE.md" ? 1_600 : 700);
    expect(counts.filter(({ page, words }) => words > most(page))).toEqual([]);
  });
});
