// How large the dashboard is, file by file: what the first page loads, and what comes when it is needed.
// npm run bench bench/dashboard/sizes.ts
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { firstLoad, readWebFile, webFolder } from "../../test/web/web-files.ts";

const first = new Set(firstLoad());
const rows = readdirSync(join(webFolder, "assets"))
  .filter((name) => name.endsWith(".br"))
  .map((packed) => {
    const name = `assets/${packed.slice(0, -".br".length)}`;
    const raw = readWebFile(name);
    const brotli = statSync(join(webFolder, `${name}.br`)).size;
    return { name, raw: raw.length, gzip: gzipSync(raw, { level: 9 }).length, brotli, isFirst: first.has(name) };
  })
  .toSorted((one, other) => Number(other.isFirst) - Number(one.isFirst) || other.gzip - one.gzip);

type Row = (typeof rows)[number];
const kib = (bytes: number): string => (bytes / 1_024).toFixed(1).padStart(9);

function print(name: string, of: readonly Pick<Row, "raw" | "gzip" | "brotli">[]): void {
  const sum = (member: "raw" | "gzip" | "brotli"): string => kib(of.reduce((all, row) => all + row[member], 0));
  process.stdout.write(`${name.padEnd(44)}${sum("raw")}${sum("gzip")}${sum("brotli")}\n`);
}

process.stdout.write(`${"KiB".padEnd(44)}      raw     gzip   brotli\n`);
for (const row of rows) print(`${row.isFirst ? "first  " : "later  "}${row.name.slice("assets/".length)}`, [row]);
print(
  "the first page",
  rows.filter(({ isFirst }) => isFirst),
);
print("all", rows);
