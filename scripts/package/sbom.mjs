// The package's bill of materials (CycloneDX 1.5, made by `npm sbom`): the packages that are installed with it, and
// those whose code is in dist/, with the versions and hashes of the lock file.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The packages that the notices name: `name@version`. */
export function noticedPackages(notices) {
  return [...notices.matchAll(/^(\S+) (\d+\.\d+\.\d+\S*) \([^)]+\)$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
}

/** The packages whose code is in `dist/`: esbuild names each file before its code. */
export function bundledIn(dist) {
  const texts = ["cli", "embedded"].flatMap((folder) =>
    readdirSync(join(dist, folder)).map((name) => readFileSync(join(dist, folder, name), "utf8")),
  );
  const named = /^\/\/ (?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm;
  return [...new Set(texts.flatMap((text) => [...text.matchAll(named)].map(([, name]) => name)))].sort();
}

/** SQLite is in the binaries, and no package of its own; who looks for its weaknesses has to find it. */
function sqliteComponent(version) {
  return {
    "bom-ref": `sqlite@${version}`,
    type: "library",
    name: "sqlite",
    version,
    scope: "required",
    purl: `pkg:generic/sqlite@${version}`,
    cpe: `cpe:2.3:a:sqlite:sqlite:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { name: "Public Domain", url: "https://sqlite.org/copyright.html" } }],
  };
}

/** Of everything that is installed here, what comes with the package. */
export function toSbom({ whole, installed, bundled, sqliteVersion }) {
  const kept = new Set([...installed, ...bundled]);
  const missing = [...kept].filter((ref) => !whole.components.some((component) => component["bom-ref"] === ref));
  if (missing.length > 0) throw new Error(`npm sbom does not know ${missing.join(", ")}`);
  const own = whole.metadata.component["bom-ref"];
  const sqlite = sqliteComponent(sqliteVersion);
  const components = whole.components
    .filter((component) => kept.has(component["bom-ref"]))
    // npm tells which of them were development dependencies here, which is no concern of whoever installs.
    .map((component) => ({
      ...component,
      scope: "required",
      properties: [{ name: "toolyard:place", value: bundled.includes(component["bom-ref"]) ? "dist" : "node_modules" }],
    }));
  const known = new Set([own, ...kept]);
  const dependencies = whole.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  const component = { ...whole.metadata.component, name: "toolyard", type: "application" };
  return {
    ...whole,
    metadata: { ...whole.metadata, component },
    components: [...components, sqlite],
    dependencies: [...dependencies, { ref: sqlite["bom-ref"], dependsOn: [] }],
  };
}

/** `name@version` of what `npm install toolyard` installs besides it. */
function installedRefs() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return Object.entries(packages)
    .filter(([folder, { dev, link }]) => folder.startsWith("node_modules/") && dev !== true && link !== true)
    .map(([folder, { version }]) => `${folder.replace(/^.*node_modules\//, "")}@${version}`);
}

/** Which SQLite the package's binaries contain, as the sources beside them say. */
function readSqliteVersion() {
  const header = join(root, "node_modules/@photostructure/sqlite/src/upstream/sqlite3.h");
  const [, version] =
    /#define SQLITE_VERSION\s+"([^"]+)"/.exec(existsSync(header) ? readFileSync(header, "utf8") : "") ?? [];
  if (version === undefined) throw new Error(`${header} does not say which SQLite it is`);
  return version;
}

export function makeSbom() {
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--loglevel=error"];
  const text = execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1_024 * 1_024 });
  const notices = ["dist", "dist/web"]
    .map((folder) => readFileSync(join(root, folder, "THIRD-PARTY-NOTICES.txt"), "utf8"))
    .join("\n");
  return toSbom({
    whole: JSON.parse(text),
    installed: installedRefs(),
    bundled: noticedPackages(notices),
    sqliteVersion: readSqliteVersion(),
  });
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href)
  writeFileSync(join(root, "dist/sbom.cdx.json"), `${JSON.stringify(makeSbom(), null, 2)}\n`);
