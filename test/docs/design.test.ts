import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serverTimes } from "../../src/config/rows/instance-rows.ts";
import { placedRows } from "../../src/config/rows/row-reading.ts";
import { settingsTable } from "../../src/config/settings/settings-table.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/design.md"), "utf8");

/** What the page's table of limits calls them. */
const limits = Object.fromEntries(
  placedRows(settingsTable).flatMap(({ path, row }) => {
    const name = path.at(-1) ?? "";
    const isServerTime = path[0] === "instances" && Object.hasOwn(serverTimes, name);
    return typeof row.fallback === "number" ? [[isServerTime ? name : path.join("."), row.fallback]] : [];
  }),
) as Readonly<Record<string, number>>;

test("the limits that docs/design.md tells are those in force", () => {
  const rows = [...page.matchAll(/^\| `([A-Za-z.]+)` \| ([^|]+) \|/gm)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  const named = rows.filter(([name = ""]) => Object.hasOwn(limits, name) || /(Ms|Bytes)$/.test(name));
  expect(named.length).toBeGreaterThan(20);
  expect(named).toEqual(named.map(([name = ""]) => [name, inWords(name, limits[name] ?? Number.NaN)]));
});

describe("a link of the documentation, and one that a comment makes to it", () => {
  test("leads to a file, and to a heading that is there", () => {
    const pages = ["", "docs", "docs/exposures"].flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith(".md"))
        .map((name) => join(folder, name)),
    );
    const broken = pages.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(join(root, file), target))
        .map((target) => `${file}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test("names a section of docs/design.md that exists", () => {
    const headings = new Set(headingsOf(page));
    const cited = ["src", "test", "bench", "scripts"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(ts|mts|mjs)$/.test(name))
        .flatMap((name) =>
          [...readFileSync(join(root, folder, name), "utf8").matchAll(citation)].map(([, heading = ""]) => ({
            file: join(folder, name),
            heading,
          })),
        ),
    );
    expect(cited.filter(({ heading }) => !headings.has(heading))).toEqual([]);
  });
});

/** `docs/design.md, "Instances"`. */
const citation = /docs\/design\.md, "([^"]+)"/g;

function leadsSomewhere(from: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : resolve(dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || headingsOf(readFileSync(file, "utf8")).map(toAnchor).includes(anchor);
}

function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,4} (.+)$/gm)].map(([, heading = ""]) => heading);
}

/** As GitHub makes it. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

function inWords(name: string, value: number): string {
  if (name.endsWith("Bytes")) return `${value / 1024 ** 2} MiB`;
  if (!name.endsWith("Ms")) return value.toLocaleString("en-US");
  const [size, unit] = (
    [
      [3_600_000, "h"],
      [60_000, "min"],
      [1_000, "s"],
    ] as const
  ).find(([length]) => value % length === 0) ?? [1, "ms"];
  return `${value / size} ${unit}`;
}
