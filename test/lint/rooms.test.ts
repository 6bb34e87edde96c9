import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const oxlint = join(root, "node_modules/.bin/oxlint");

/** A house of its own, with our rules and nothing else in it: a violation planted in the real one could stay there. */
describe("the room rule", () => {
  let house: string;

  beforeAll(() => {
    house = mkdtempSync(join(tmpdir(), "toolyard-house-"));
    // Without types: the rules that need them are not the ones in question, and would want the project's own tools beside them.
    const { options: _typeAware, ...rules } = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as Record<
      string,
      unknown
    >;
    writeFileSync(join(house, ".oxlintrc.json"), JSON.stringify(rules));
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

  test.each([
    ["src/shared/planted.ts", "../cli/main.ts"],
    ["src/catalog/planted.ts", "../routing/routing.ts"],
    ["src/catalog/search/planted.ts", "../../discovery/engine.ts"],
    ["src/exposure/planted.ts", "../front/mcp/http.ts"],
    ["src/front/mcp/planted.ts", "../../app/gateway.ts"],
    ["src/upstream/process/planted.ts", "../../instance/fleet.ts"],
    ["src/events/planted.ts", "../catalog/view.ts"],
  ])("%s may not import %s", (file, imported) => {
    expect(lint(file, `import { thing } from "${imported}";\nexport const other = thing;\n`)).toContain(
      "no-restricted-imports",
    );
  });

  test.each([
    ["src/exposure/planted.ts", "../catalog/view.ts"],
    ["src/front/mcp/planted.ts", "../../routing/routing.ts"],
    ["src/catalog/planted.ts", "../shared/ids.ts"],
    ["src/upstream/planted.ts", "../events/log.ts"],
  ])("%s may import %s", (file, imported) => {
    expect(lint(file, `import { thing } from "${imported}";\nexport const other = thing;\n`)).not.toContain(
      "no-restricted-imports",
    );
  });

  test("only some rooms may import the protocol's packages", () => {
    const text = 'import { Client } from "@modelcontextprotocol/client";\nexport const other = Client;\n';
    expect(lint("src/routing/planted.ts", text)).toContain("no-restricted-imports");
    expect(lint("src/upstream/planted.ts", text)).not.toContain("no-restricted-imports");
  });

  test("only config and cli read the environment", () => {
    const text = "export const home = process.env.HOME;\n";
    expect(lint("src/routing/planted.ts", text)).toContain("no-process-env");
    expect(lint("src/cli/planted.ts", text)).not.toContain("no-process-env");
  });

  test(".oxlintrc.json is what scripts/lint-config.mjs writes", () => {
    const before = readFileSync(join(root, ".oxlintrc.json"), "utf8");
    spawnSync(process.execPath, [join(root, "scripts/lint-config.mjs")]);
    expect(readFileSync(join(root, ".oxlintrc.json"), "utf8")).toBe(before);
  });
});
