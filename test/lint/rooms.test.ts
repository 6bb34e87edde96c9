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

  function lint(file: string, text: string): string {
    const path = join(house, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const run = spawnSync(oxlint, [path], { cwd: house, encoding: "utf8" });
    rmSync(path);
    return run.stdout;
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

  test.each(upwards)("%s may not import %s", (from = "", to = "") => {
    const text = `import { thing } from "${specifier(from, to)}";\nexport const other = thing;\n`;
    expect(lint(`src/${from}/inner/planted.ts`, text)).toContain("no-restricted-imports");
  });

  test.each(downwards)("%s may import %s", (from = "", to = "") => {
    const text = `import { thing } from "${specifier(from, to)}";\nexport const other = thing;\n`;
    expect(lint(`src/${from}/inner/planted.ts`, text)).not.toContain("no-restricted-imports");
  });

  test("a wing's own files lie below its rooms", () => {
    const importing = (path: string) => `import { thing } from "${path}";\nexport const other = thing;\n`;
    expect(lint("src/store/planted.ts", importing("./files/thing.ts"))).toContain("no-restricted-imports");
    expect(lint("src/store/planted.ts", importing("../people/identity/thing.ts"))).toContain("no-restricted-imports");
    expect(lint("src/store/planted.ts", importing("../servers/instance/thing.ts"))).not.toContain(
      "no-restricted-imports",
    );
    expect(lint("src/store/files/planted.ts", importing("../thing.ts"))).not.toContain("no-restricted-imports");
  });

  test("only some rooms may import the protocol's packages", () => {
    const text = 'import { Client } from "@modelcontextprotocol/client";\nexport const other = Client;\n';
    expect(lint("src/engine/calls/planted.ts", text)).toContain("no-restricted-imports");
    expect(lint("src/servers/upstream/planted.ts", text)).not.toContain("no-restricted-imports");
  });

  test("only config and cli read the environment", () => {
    const text = "export const home = process.env.HOME;\n";
    expect(lint("src/engine/calls/planted.ts", text)).toContain("no-process-env");
    expect(lint("src/cli/planted.ts", text)).not.toContain("no-process-env");
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
