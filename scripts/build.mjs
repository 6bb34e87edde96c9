// Bundles src/ to dist/: two hundred small modules take Node 50 ms and 5 MB longer to load than a few large ones
// (bench/startup). The packages in `dependencies` stay outside. Those in `devDependencies` that src/ imports are
// bundled, of each only what is used, and named in dist/THIRD-PARTY-NOTICES.txt. What is loaded late stays a file of
// its own, and names stay as they are. Skips the work when dist/ is newer than every source.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { bundledPackages, toNotices } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}dist/cli/main.js`;

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

/** Of everything that decides what comes out: the same sources have the same. */
function hashOf(paths) {
  const hash = createHash("sha256");
  const add = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path).sort()) add(`${path}/${name}`);
    else hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  };
  for (const path of paths) add(`${root}${path}`);
  return hash.digest("hex").slice(0, 16);
}

/**
 * Declarations of the package's entry. Its types stand in one file and import nothing of ours, so that no other file
 * has to be read.
 */
function writeTypes() {
  const files = ["toolyard.ts", "embedding-types.ts"].map((name) => `src/app/${name}`);
  const options = ["--declaration", "--emitDeclarationOnly", "--noResolve", "--noCheck", "--ignoreConfig"];
  const formats = ["--target", "es2023", "--module", "nodenext", "--types", "node", "--allowImportingTsExtensions"];
  execFileSync(process.execPath, [tsc, ...options, ...formats, "--outDir", "dist/types", ...files], {
    cwd: root,
    stdio: "inherit",
  });
  // TypeScript leaves the names of the sources in declarations.
  const entry = `${root}dist/types/toolyard.d.ts`;
  writeFileSync(entry, readFileSync(entry, "utf8").replaceAll('types.ts"', 'types.js"'));
}

// The command and the package's own entry. Each is built for itself, in a folder of its own, because every module that
// two programs share in part of their ways becomes one more file to load: 35 at each start instead of 27.
const programs = { cli: "src/cli/main.ts", embedded: "src/app/toolyard.ts" };
// What runs in threads of its own. One file each, with the packages that it uses (Ajv is 60 files): the first call that
// needs one of them waits until it is up. Both programs use those of dist/cli/.
const alone = [
  "src/engine/validation/compile-worker.ts",
  "src/catalog/discovery/fuse-worker.ts",
  "src/store/sql/sql-worker.ts",
];
// A process of its own, beside each program, where it looks for it.
const guardian = "src/servers/process/guardian-main.ts";

/**
 * What we use of some packages, as one file each for all programs. undici takes 2.2 MB as a package, and with
 * everything that its index names twice as much as this. The index also gives every dispatcher the functions that
 * ProxyAgent calls.
 */
const sharedPackages = {
  undici: `
    import api from "undici/lib/api/index.js";
    import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
    Object.assign(Dispatcher.prototype, api);
    export { default as Pool } from "undici/lib/dispatcher/pool.js";
    export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
  `,
  // Without its index, which asks for a native driver.
  pg: `
    import Client from "pg/lib/client.js";
    import AnyPool from "pg-pool";
    export { default as types } from "pg-types";
    export { Client };
    export class Pool extends AnyPool {
      constructor(options) {
        super(options, Client);
      }
    }
  `,
};
/** Has both programs load these packages from dist/cli/. */
const shared = {
  name: "shared-packages",
  setup({ onResolve }) {
    const filter = new RegExp(`^(?:${Object.keys(sharedPackages).join("|")})$`);
    onResolve({ filter }, ({ path }) => ({ path: `../cli/${path}.js`, external: true }));
  },
};

/** Packages that are not bundled, with every path within them. */
function outside(packages) {
  return Object.keys(packages).flatMap((name) => [name, `${name}/*`]);
}

const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const sources = [
  "src",
  "tsconfig.json",
  "package.json",
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/notices.mjs",
];
const newestSource = Math.max(...sources.map((name) => newest(`${root}${name}`)));
if (!existsSync(stamp) || statSync(stamp).mtimeMs < newestSource) {
  for (const own of ["cli", "embedded", "types"]) rmSync(`${root}dist/${own}`, { recursive: true, force: true });
  const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const common = {
    absWorkingDir: root,
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    external: outside(dependencies),
    // What a package has as modules: of CommonJS nothing can be left out (jsonc-parser, OpenTelemetry).
    mainFields: ["module", "main"],
    metafile: true,
    loader: { ".txt": "text" },
    platform: "node",
    format: "esm",
    target: "node20",
    // Puts the value of a constant where it is used. Without it the named characters of src/wire/json/characters.ts are
    // variables to V8, and looking over JSON takes a tenth longer; with it, a tenth less than with numbers in the code.
    // Names and lines stay readable.
    minifySyntax: true,
    // Packages in CommonJS (pino) ask for Node's own modules with require, which a module does not have.
    banner: {
      js: 'import { createRequire as toRequire } from "node:module"; const require = toRequire(import.meta.url);',
    },
    define: { TOOLYARD_BUILD_ID: JSON.stringify(hashOf(sources)) },
    logLevel: "warning",
  };
  const outputs = {};
  for (const [folder, program] of Object.entries(programs)) {
    const outdir = `dist/${folder}`;
    // The thread that tries what is loaded late must find the very files of its program.
    const entryPoints = [program, "src/app/late-check-worker.ts"];
    const together = { ...common, outdir, splitting: true, entryPoints, plugins: [shared] };
    for (const { metafile } of [
      await build(together),
      await build({
        ...common,
        outdir,
        external: [],
        entryPoints: folder === "cli" ? [guardian, ...alone] : [guardian],
        plugins: [shared],
      }),
    ])
      Object.assign(outputs, metafile.outputs);
  }
  // The tokenizer's merges are in every script there is; escaped, they would take half as much again.
  const merges = { ...common, outdir: "dist/cli", charset: "utf8", entryPoints: ["src/records/token-worker.ts"] };
  Object.assign(outputs, (await build(merges)).metafile.outputs);
  for (const [name, contents] of Object.entries(sharedPackages)) {
    const stdin = { contents, resolveDir: root };
    const outfile = `dist/cli/${name}.js`;
    const { metafile } = await build({
      ...common,
      stdin,
      outfile,
      external: ["pg-native", "pg-cloudflare"],
      minify: name === "pg",
    });
    Object.assign(outputs, metafile.outputs);
  }
  writeFileSync(`${root}dist/THIRD-PARTY-NOTICES.txt`, toNotices(bundledPackages({ outputs }, root), root));
  chmodSync(stamp, 0o755);
  writeTypes();
}
await buildWeb(root);
