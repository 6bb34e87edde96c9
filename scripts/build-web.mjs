// Builds the dashboard of web/ to dist/web/, compressed with brotli and nothing else: every browser takes it, and the
// gateway unpacks for whoever does not. Skips the work when the sources are those of the last time.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { toWebNotices } from "./notices.mjs";

const compress = promisify(brotliCompress);
/** What the dashboard has in common with the gateway. */
const sharedSources = ["src/config/edit/json-change.ts"];
/** Made by `npm run types` and nothing that the build reads. */
const notSources = new Set(["node_modules", "schema.d.ts"]);

/** Of every source and of the packages that are bundled: what comes out depends on nothing else. */
function hashOf(root) {
  const hash = createHash("sha256");
  const add = (path) => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).sort()) if (!notSources.has(name)) add(join(path, name));
    } else hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  };
  for (const name of ["web", ...sharedSources, "package-lock.json", "scripts/build-web.mjs"]) add(join(root, name));
  return hash.digest("hex");
}

/** The packages whose code came into a chunk. */
function packagesPlugin(folders) {
  return {
    name: "packages",
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle))
        for (const id of Object.keys(chunk.modules ?? {})) {
          const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replace(/^\0/, "")) ?? [];
          if (folder !== undefined) folders.add(folder);
        }
    },
  };
}

async function compressAll(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  await Promise.all(
    files.map(async (path) => {
      const content = readFileSync(path);
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      };
      writeFileSync(`${path}.br`, await compress(content, { params }));
      rmSync(path);
    }),
  );
}

export async function buildWeb(root) {
  const web = join(root, "web");
  const outDir = join(root, "dist/web");
  const stamp = join(root, ".cache/web-build");
  mkdirSync(join(root, ".cache"), { recursive: true });
  const hash = hashOf(root);
  if (existsSync(join(outDir, "index.html.br")) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  // The workspace has a Vite of its own, newer than that of the test runner.
  const vite = createRequire(join(web, "package.json")).resolve("vite");
  const { build } = await import(pathToFileURL(vite).href);
  // Otherwise a build that the test runner starts is one for development, with a React that is half as large again.
  process.env["NODE_ENV"] = "production";
  const folders = new Set();
  await build({
    root: web,
    configFile: false,
    base: "/ui/",
    logLevel: "warn",
    plugins: [packagesPlugin(folders)],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2023",
      modulePreload: { polyfill: false },
      // Everything is a file of its own: the policy of the page knows no others.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1_000,
      rolldownOptions: {
        // Packages mark modules for frameworks that render on servers, which this is none of.
        onLog: (level, log, tell) => void (log.code === "MODULE_LEVEL_DIRECTIVE" || tell(level, log)),
      },
    },
  });
  await compressAll(outDir);
  writeFileSync(
    join(outDir, "THIRD-PARTY-NOTICES.txt"),
    toWebNotices([...folders].sort((left, right) => (left < right ? -1 : 1))),
  );
  writeFileSync(stamp, hash);
}
