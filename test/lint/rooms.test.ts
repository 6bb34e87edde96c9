import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { houseTable } from "../../scripts/docs/house-table.mjs";
import { planned, wings } from "../../scripts/house.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const oxlint = join(root, "node_modules/.bin/oxlint");
const importRule = "eslint(no-restricted-imports)";

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
    const jsPlugins = [join(root, "scripts/line-length-rule.mjs")];
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

  /**
   * Every pair of neighbours in the list, and pairs that lie far apart: nothing below may import what lies above it.
   */
  const places = wings.flatMap((wing) =>
    wing.rooms.length === 0 ? [wing.name] : wing.rooms.map((room) => `${wing.name}/${room.name}`),
  );
  const upwards = places.flatMap((place, index) => {
    const above = places[index - 1];
    return above === undefined ? [] : [[place, above], ...(index > 1 ? [[place, places[0] as string]] : [])];
  });
  const downwards = places.flatMap((place, index) => {
    const below = places[index + 1];
    return below === undefined
      ? []
      : [
          [place, below],
          [place, "kernel"],
        ];
  });

  /** How a file two folders deep in `from` names one in `to`. */
  function specifier(from: string, to: string): string {
    return relative(`src/${from}/inner`, `src/${to}/thing.ts`);
  }

  const importing = (path: string) => `import { thing } from "${path}";\nexport const other = thing;\n`;
  const pathOf = (from = "", to = "") => `src/${from}/inner/${to.replace("/", "-")}.ts`;

  /** All pairs are planted together: a run takes a quarter of a second, whatever it looks at. */
  let brokenBy: (file: string) => readonly string[];
  beforeAll(() => {
    const pairs = [...upwards, ...downwards].map(([from = "", to = ""]) => [
      pathOf(from, to),
      importing(specifier(from, to)),
    ]);
    brokenBy = lint(Object.fromEntries(pairs) as Record<string, string>);
  });

  test.each(upwards)("%s may not import %s", (from, to) => {
    expect(brokenBy(pathOf(from, to))).toContain(importRule);
  });

  test.each(downwards)("%s may import %s", (from, to) => {
    expect(brokenBy(pathOf(from, to))).not.toContain(importRule);
  });

  test("a wing's own files lie below its rooms", () => {
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
    expect(broken("src/engine/calls/planted.ts")).toContain(importRule);
    expect(broken("src/servers/upstream/planted.ts")).not.toContain(importRule);
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

  test("every file lies in a wing or room of the list, and every wing and room of the list has files or is planned", () => {
    const rooms = wings.flatMap((wing) =>
      wing.rooms.length === 0 ? [`${wing.name}/`] : wing.rooms.map((room) => `${wing.name}/${room.name}/`),
    );
    const ground = wings.filter((wing) => wing.ground === true).map((wing) => wing.name);
    const isAtHome = (file: string) =>
      rooms.some((room) => file.startsWith(room)) || ground.includes(dirname(file)) || file === "text-files.d.ts";
    expect(sources.filter((file) => !isAtHome(file))).toEqual([]);
    const empty = rooms.filter((room) => !sources.some((file) => file.startsWith(room)));
    expect(empty.map((room) => room.slice(0, -1)).sort()).toEqual([...planned].sort());
  });

  test("no file name stands twice", () => {
    const names = sources.map((file) => basename(file));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("ARCHITECTURE.md has its table", async () => {
    expect(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")).toContain(houseTable(wings));
  });
});
