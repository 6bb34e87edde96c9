import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { contentProblems, needed } from "./contents.mjs";
import { diskBytes, engineComplaints, installedPackages, limits } from "./limits.mjs";
import { bundledIn, makeSbom, noticedPackages, toSbom } from "./sbom.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const packages = installedPackages(join(root, "package-lock.json"));
const notices = () => readFileSync(join(root, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");

test("with Toolyard come at most 60 packages, none of them TypeScript", () => {
  const names = packages.map(([folder]) => folder.replace("node_modules/", ""));
  expect(names).toContain("rotating-file-stream");
  expect(names.length).toBeLessThanOrEqual(limits.packages - 1);
  expect(names.filter((name) => name.includes("typescript"))).toEqual([]);
});

test("together with it they take less than 20 MB on disk", () => {
  // The compressed binaries are in the package only, and take 6.8 MB.
  const own = ["dist/cli", "dist/embedded", "dist/web", "docs", "examples"].map((name) => diskBytes(join(root, name)));
  const others = packages
    .filter(([folder]) => existsSync(join(root, folder)))
    .map(([folder]) => diskBytes(join(root, folder), new Set(["node_modules"])));
  expect(others.length).toBeGreaterThan(0);
  expect([...own, ...others, 6.8e6].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(limits.bytes);
});

test("no package complains on Node 20, 22 or 24, or runs a script when it is installed", () => {
  expect(engineComplaints(packages)).toEqual([]);
  expect(engineComplaints([["node_modules/new", { engines: { node: ">=22" } }]])).toEqual([
    "node_modules/new on Node 20.19.0",
  ]);
  expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});

test("whose code is bundled is named with its licence, and nothing else is", () => {
  const named = [...notices().matchAll(/^(\S+) \d+\.\d+\.\d+\S* \((?:MIT|Apache-2\.0|ISC|BSD-[23]-Clause)\)$/gm)].map(
    (match) => match[1],
  );
  expect(named).toContain("zod");
  // Compiled into the binaries of SQLite.
  const compiled = ["@photostructure/sqlite", "node-addon-api"];
  const found = new Set([...bundledIn(join(root, "dist")), ...compiled]);
  expect([...found].filter((name) => !named.includes(name))).toEqual([]);
  // Files that are minified do not say what they are made of: it is part of what these bring along.
  const minified = withDependencies(["pg", "pg-pool", "oidc-provider"]);
  expect(named).toEqual(expect.arrayContaining(["pg", "oidc-provider"]));
  expect(named.filter((name) => !found.has(name) && !minified.has(name))).toEqual([]);
  expect(notices()).toContain("SQLite, which is in the public domain");
});

test("the bill of materials has what is bundled, what is installed and SQLite, and nothing that stays here", () => {
  const sbom = makeSbom();
  expect(sbom).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "toolyard" } } });
  const placeOf = (name) => sbom.components.find((component) => component.name === name)?.properties?.[0]?.value;
  expect([placeOf("zod"), placeOf("rotating-file-stream"), placeOf("vitest")]).toEqual([
    "dist",
    "node_modules",
    undefined,
  ]);
  const refs = sbom.components.map((component) => component["bom-ref"]);
  expect(refs).toEqual(expect.arrayContaining(noticedPackages(notices())));
  expect(sbom.components.find(({ name }) => name === "sqlite")).toMatchObject({
    cpe: expect.stringContaining("sqlite"),
  });
  const known = new Set([...refs, sbom.metadata.component["bom-ref"]]);
  const used = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  expect(used.filter((ref) => !known.has(ref))).toEqual([]);
  const whole = { components: [], metadata: { component: {} }, dependencies: [] };
  expect(() => toSbom({ whole, installed: [], bundled: ["zod@1.0.0"], sqliteVersion: "3.53.0" })).toThrow("zod@1.0.0");
});

test("a file that nobody meant to publish is told, and so is one that is missing", () => {
  expect(contentProblems(needed)).toEqual([]);
  const more = ["src/cli/main.ts", "dist/cli/main.js.map", "test/x.test.ts", "docs/scale.json", ".env"];
  expect(contentProblems([...needed, ...more])).toEqual(more.map((path) => `${path} is in the package`));
  expect(contentProblems(needed.slice(1))).toEqual(["LICENSE is missing in the package"]);
});

/** Packages with all that they need. */
function withDependencies(names) {
  const { packages: locked } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const all = new Set(names);
  for (const name of all)
    for (const [place, { dependencies, peerDependenciesMeta }] of Object.entries(locked))
      if (place.endsWith(`node_modules/${name}`))
        for (const other of Object.keys({ ...dependencies, ...peerDependenciesMeta })) all.add(other);
  return all;
}
