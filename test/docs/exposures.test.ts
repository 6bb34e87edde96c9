import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { exposureRows } from "../../scripts/docs/exposure-table.mjs";
import { exposureNames, exposures } from "../../src/config/rows/exposures.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("docs/design.md has the table of exposures, and each has a page", () => {
  expect(readFileSync(join(root, "docs/design.md"), "utf8")).toContain(exposureRows(exposures));
  for (const name of exposureNames) expect(existsSync(join(root, `docs/exposures/${name}.md`)), name).toBe(true);
});
