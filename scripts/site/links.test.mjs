import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { brokenLinks } from "./links.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "toolyard-links-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`),
  ),
];

test.each(pages)("every link and picture of %s leads somewhere", (file) => {
  expect(brokenLinks(root, file)).toEqual([]);
});

test.each([
  ["[a](other.md)", undefined],
  ["[a](other.md#second-part)", undefined],
  ["[a](#here)\n\n# Here", undefined],
  ["[a](#twice-1)\n\n# Twice\n\n# Twice", undefined],
  ["[a](<with space.md>)", undefined],
  ["[a](https://example.com/x#y)", undefined],
  ["`[a](nowhere.md)`", undefined],
  ["[a](nowhere.md)", "docs/page.md:1: nowhere.md: there is no docs/nowhere.md"],
  ["x\n\n![a](no.svg)", "docs/page.md:3: no.svg: there is no docs/no.svg"],
  ["[a](other.md#third)", "docs/page.md:1: other.md#third: docs/other.md has no heading #third"],
  ["[a](#there)", "docs/page.md:1: #there: docs/page.md has no heading #there"],
  ["[a](../../x.md)", "docs/page.md:1: ../../x.md leads out of the repository"],
  ["[a](/etc/passwd)", "docs/page.md:1: /etc/passwd is a path of the machine, not of the repository"],
  ["[a](https://)", "docs/page.md:1: https:// is no address"],
  [
    "[a](http://example.com)",
    "docs/page.md:1: http://example.com: only https addresses and the gateway on this machine are linked",
  ],
])("the link in %j: %s", (text, problem) => {
  mkdirSync(join(scratch, "docs"), { recursive: true });
  writeFileSync(join(scratch, "docs/other.md"), "# First\n\n## Second part\n");
  writeFileSync(join(scratch, "docs/with space.md"), "# Spaces\n");
  writeFileSync(join(scratch, "docs/page.md"), text);
  expect(brokenLinks(scratch, "docs/page.md")).toEqual(problem === undefined ? [] : [problem]);
});
