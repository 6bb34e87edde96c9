// Builds the documentation as a site of plain files: `npm run site [-- FOLDER]`. Nothing in it is loaded from
// elsewhere, and it needs no server.
import { buildSync } from "esbuild";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brokenLinks, partsOf } from "./links.mjs";
import { readPage, renderPage } from "./markdown.mjs";
import { outputOf, wholePage } from "./page.mjs";
import { searchIndex, sectionsOf } from "./search-index.mjs";
import { siteMap } from "./site-map.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const scripts = fileURLToPath(new URL("browser", import.meta.url));
const pages = siteMap.flatMap(({ pages: some }) => some);

/**
 * Writes the site, and returns its pages.
 * @param {string} folder
 * @throws where a link leads nowhere
 */
export function buildSite(folder) {
  const broken = pages.flatMap(([file]) => brokenLinks(root, file));
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join("\n")}`);
  rmSync(folder, { recursive: true, force: true });
  const files = new Set();
  const sections = [];
  for (const [file, label] of pages) {
    const page = readPage(readFileSync(join(root, file), "utf8"));
    const { headings, title = label } = page;
    sections.push(...sectionsOf(page, { output: outputOf(file), title }));
    const html = renderPage(page, (target) => hrefOf(file, target, files));
    write(folder, outputOf(file), wholePage({ file, title, html, headings }));
  }
  for (const file of files) copy(folder, file);
  copy(folder, "scripts/site/site.css", "site.css");
  copy(folder, "web/src/icon.svg", "icon.svg");
  write(folder, "site.js", bundle(`import "./page.mjs";`));
  const index = JSON.stringify(searchIndex(sections));
  write(
    folder,
    "search.js",
    bundle(`import { openIndex } from "./search.mjs";\nglobalThis.siteSearch = openIndex(${index});`),
  );
  return pages.map(([file]) => outputOf(file));
}

/** Where a link of a page leads in the site. What is no page is noted, to be copied. */
function hrefOf(file, target, files) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith("#")) return target;
  const [path, anchor] = partsOf(target);
  const found = posix.join(posix.dirname(file), path).replace(/\/$/, "");
  const isPage = pages.some(([name]) => name === found);
  if (!isPage) files.add(found);
  const to = isPage ? outputOf(found) : found;
  return `${encodeURI(posix.relative(posix.dirname(file), to) || to)}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** A classic script: browsers load modules over HTTP only, and the site can also be opened as files. */
function bundle(contents) {
  const stdin = { contents, resolveDir: scripts };
  const options = { bundle: true, minify: true, format: "iife", target: "es2022", write: false };
  return buildSync({ stdin, ...options }).outputFiles[0].text;
}

function copy(folder, from, to = from) {
  if (statSync(join(root, from)).isDirectory()) throw new Error(`${from} is a folder: link one of its pages`);
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(join(root, from), join(folder, to));
}

function write(folder, file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = resolve(process.argv[2] ?? join(root, ".cache/site"));
  const written = buildSite(folder);
  process.stdout.write(`${written.length} pages in ${relative(process.cwd(), folder) || folder}\n`);
}
