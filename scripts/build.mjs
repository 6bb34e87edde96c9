// Bundles src/ to dist/: two hundred small modules take Node 50 ms and 5 MB longer to load than a few large ones
// (bench/startup). The packages in `dependencies` stay outside. Those in `devDependencies` that src/ imports are
// bundled, of each only what is used, and named in dist/THIRD-PARTY-NOTICES.txt. What is loaded late stays a file of
// its own, and names stay as they are. Skips the work when dist/ is newer than every source.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildWeb } from "./build-web.mjs";
import { startLeaves, togetherPlugin } from "./build/start-leaves.mjs";
import { writeTokenRanks, tokenRanksPlugin } from "./build/token-ranks.mjs";
import { bundledPackages, toNotices } from "./notices.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Names the sources of a complete build: a running gateway loads nothing more from dist/ once it is another one. */
const stamp = `${root}dist/build-id.txt`;

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
  const files = ["toolyard.ts", "embedding-types.ts"].map((name) => `src/app/embedded/${name}`);
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

// The command, the package's own entry, the process that tries a server, and the thread that changes files of clients.
// Built together, so that no code is in the package twice.
const programs = {
  "cli/main": "src/cli/main.ts",
  "cli/trial-main": "src/cli/gateway/trial-main.ts",
  "cli/client-worker": "src/operations/machine/thread/client-worker.ts",
  "embedded/toolyard": "src/app/embedded/toolyard.ts",
};
// What runs in threads of its own. One file each, with the packages that it uses: the first call that needs one of them
// waits until it is up.
const alone = [
  "src/catalog/discovery/fuse-worker.ts",
  "src/engine/calls/results/mend-worker.ts",
  "src/store/sql/thread/sql-worker.ts",
];
// A process of its own.
const guardian = "src/servers/process/guardian/guardian-main.ts";
const tokenWorker = "src/records/usage/token-worker.ts";

/**
 * What we use of undici: as a package it takes 2.2 MB, and with everything that its index names twice as much as this.
 * The index also gives every dispatcher the functions that ProxyAgent calls.
 */
const undiciParts = `
  import api from "undici/lib/api/index.js";
  import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
  Object.assign(Dispatcher.prototype, api);
  export { default as Pool } from "undici/lib/dispatcher/pool.js";
  export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
`;
const undici = {
  name: "undici-parts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: "undici-parts" }));
    onLoad({ filter: /.*/, namespace: "undici-parts" }, () => ({ contents: undiciParts, resolveDir: root }));
  },
};

/** What we use of pg, without its index, which asks for a native driver. */
const pgParts = `
  import Client from "pg/lib/client.js";
  import AnyPool from "pg-pool";
  export { default as types } from "pg-types";
  export { Client };
  export class Pool extends AnyPool {
    constructor(options) {
      super(options, Client);
    }
  }
`;
/**
 * What the authorization server's library is bundled without. It answers with JSON and pages: of the 2,600 media types
 * that its framework knows, 390 KB of JSON, it needs four.
 */
const lessOfLibrary = {
  name: "less-of-library",
  setup({ onLoad }) {
    const types = {
      "application/json": { charset: "UTF-8", compressible: true, extensions: ["json"] },
      "text/html": { compressible: true, extensions: ["html"] },
      "text/plain": { compressible: true, extensions: ["txt"] },
      "application/x-www-form-urlencoded": { compressible: true },
    };
    // It prints advice for its developers, on stdout too.
    onLoad({ filter: /node_modules\/oidc-provider\/lib\/helpers\/attention\.js$/ }, () => ({
      contents: "export const info = () => undefined; export const warn = () => undefined;",
    }));
    const contents = JSON.stringify(types);
    onLoad({ filter: /node_modules\/mime-db\/db\.json$/ }, () => ({ contents, loader: "json" }));
  },
};
const libraryParts = `export { Provider, interactionPolicy, errors } from "oidc-provider";`;
/** A file of its own beside the others that are loaded late, because only this one is minified. */
const libraryApart = {
  name: "library-apart",
  setup({ onResolve }) {
    onResolve({ filter: /^oidc-provider$/ }, () => ({ path: "./oidc-provider.js", external: true }));
  },
};

/** A file of its own, so that the thread of the database reads it only where the database is PostgreSQL. */
const pgApart = {
  name: "pg-apart",
  setup({ onResolve }) {
    onResolve({ filter: /^pg$/ }, () => ({ path: "./pg.js", external: true }));
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
  "scripts/build",
  "scripts/notices.mjs",
];
const newestSource = Math.max(...sources.map((name) => newest(`${root}${name}`)));
if (!existsSync(stamp) || statSync(stamp).mtimeMs < newestSource) {
  // Of `npm start` nothing else is seen until it is done.
  if (process.stderr.isTTY) process.stderr.write("Building Toolyard, which takes a moment the first time ...\n");
  rmSync(stamp, { force: true });
  const startedAt = new Date();
  const buildId = hashOf(sources);
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
    define: { TOOLYARD_BUILD_ID: JSON.stringify(buildId) },
    logLevel: "warning",
  };
  const together = {
    ...common,
    outdir: "dist",
    splitting: true,
    entryPoints: programs,
    entryNames: "[dir]/[name]",
    chunkNames: "cli/[name]-[hash]",
  };
  const start = { program: "dist/cli/main.js", command: "src/cli/serve/serve-command.ts" };
  const { metafile: first } = await build({ ...together, plugins: [undici, libraryApart], write: false });
  const one = { ...common, outdir: "dist/cli", external: [] };
  const outputs = {};
  for (const options of [
    { ...together, plugins: [undici, libraryApart, togetherPlugin(startLeaves(first, start), root)] },
    { ...one, entryPoints: [guardian, ...alone], plugins: [pgApart] },
    {
      ...{ ...one, external: ["pg-native", "pg-cloudflare"], minify: true },
      ...{ stdin: { contents: pgParts, resolveDir: root }, outdir: undefined, outfile: "dist/cli/pg.js" },
    },
    {
      ...{ ...one, minify: true, keepNames: true, plugins: [lessOfLibrary] },
      ...{
        stdin: { contents: libraryParts, resolveDir: root },
        outdir: undefined,
        outfile: "dist/cli/oidc-provider.js",
      },
    },
    { ...one, entryPoints: [tokenWorker], plugins: [tokenRanksPlugin] },
    // Loaded by the first pattern, in the middle of a check, which cannot wait: as CommonJS.
    { ...one, entryPoints: { re2js: "re2js" }, format: "cjs", banner: {}, outExtension: { ".js": ".cjs" } },
  ])
    Object.assign(outputs, (await build(options)).metafile.outputs);
  await writeTokenRanks({ folder: `${root}dist/cli`, cache: `${root}.cache/token-ranks` });
  writeFileSync(`${root}dist/THIRD-PARTY-NOTICES.txt`, toNotices(bundledPackages({ outputs }, root), root));
  chmodSync(`${root}dist/cli/main.js`, 0o755);
  writeTypes();
  await buildWeb(root);
  writeFileSync(stamp, buildId);
  // A source that was changed meanwhile is newer.
  utimesSync(stamp, startedAt, startedAt);
} else await buildWeb(root);
