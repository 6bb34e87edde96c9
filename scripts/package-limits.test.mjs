import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allowedScripts, diskBytes, engineComplaints, installedPackages, limits } from "./package-limits.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = installedPackages(join(root, "package-lock.json"));

test("with Toolyard come at most 60 packages, none of them TypeScript", () => {
  const names = packages.map(([folder]) => folder.replace("node_modules/", ""));
  expect(names).toContain("ajv");
  expect(names.length).toBeLessThanOrEqual(limits.packages - 1);
  expect(names.filter((name) => name.includes("typescript"))).toEqual([]);
});

test("together with it they take less than 50 MB on disk", () => {
  const own = ["dist", "docs", "examples"].map((name) => diskBytes(join(root, name)));
  const others = packages
    .filter(([folder]) => existsSync(join(root, folder)))
    .map(([folder]) => diskBytes(join(root, folder), new Set(["node_modules"])));
  expect(others.length).toBeGreaterThan(10);
  expect([...own, ...others].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(limits.bytes);
});

test("no package complains on Node 20, 22 or 24, only the one with SQLite runs a script", () => {
  expect(engineComplaints(packages)).toEqual([]);
  expect(engineComplaints([["node_modules/new", { engines: { node: ">=22" } }]])).toEqual([
    "node_modules/new on Node 20.19.0",
  ]);
  expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([folder]) => folder)).toEqual(
    allowedScripts,
  );
  // Where it cannot be installed, Toolyard can.
  expect(packages.filter(([, { optional }]) => optional).map(([folder]) => folder)).toEqual(
    expect.arrayContaining(allowedScripts),
  );
});

test("whose code is bundled is named with its licence, and nothing else is", () => {
  const folder = join(root, "dist/cli");
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  // The build names the file before its code.
  const bundled = texts.flatMap((text) =>
    [...text.matchAll(/^\/\/ (?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map((match) => match[1]),
  );
  const notices = readFileSync(join(root, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  const named = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \((?:MIT|Apache-2\.0|ISC|BSD-[23]-Clause)\)$/gm)].map(
    (match) => match[1],
  );
  expect(named).toContain("zod");
  expect(new Set(bundled)).toEqual(new Set(named));
});
