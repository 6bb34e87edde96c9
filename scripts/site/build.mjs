// Builds the documentation as a site of plain files: `npm run site [-- FOLDER]`. Nothing in it is loaded from
// elsewhere, and it needs no server.
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brokenLinks, partsOf } from "./links.mjs";
import { readPage, renderPage } from "./markdown.mjs";
import { siteMap } from "./site-map.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
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
  for (const [index, [file, title]] of pages.entries()) {
    const page = readPage(readFileSync(join(root, file), "utf8"));
    const html = renderPage(page, (target) => hrefOf(file, target, files));
    write(folder, outputOf(file), wholePage({ file, title: page.title ?? title, html, index }));
  }
  for (const file of files) copy(folder, file);
  copy(folder, "scripts/site/site.css", "site.css");
  return pages.map(([file]) => outputOf(file));
}

/** README becomes the first page; everything else keeps its place, so that relative links stay true. */
function outputOf(file) {
  return file === "README.md" ? "index.html" : file.replace(/\.md$/, ".html");
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

function copy(folder, from, to = from) {
  if (statSync(join(root, from)).isDirectory()) throw new Error(`${from} is a folder: link one of its pages`);
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(join(root, from), join(folder, to));
}

function write(folder, file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function wholePage({ file, title, html, index }) {
  const to = (other) => posix.relative(posix.dirname(file), outputOf(other));
  const groups = siteMap.map(({ title: group, pages: some }) => {
    const items = some.map(
      ([name, label]) =>
        `<li><a href="${to(name)}"${name === file ? ' aria-current="page"' : ""}>${escapeText(label)}</a></li>`,
    );
    return `<h2>${escapeText(group)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  const [before, after] = [pages[index - 1], pages[index + 1]];
  const turn = [
    before === undefined ? "" : `<a rel="prev" href="${to(before[0])}">← ${escapeText(before[1])}</a>`,
    after === undefined ? "" : `<a rel="next" href="${to(after[0])}">${escapeText(after[1])} →</a>`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<title>${escapeText(title === "Toolyard" ? title : `${title} · Toolyard`)}</title>
<link rel="stylesheet" href="${posix.relative(posix.dirname(file), "site.css")}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<nav aria-label="Pages">
<details open><summary>Toolyard</summary>
${groups.join("\n")}
</details>
</nav>
<main id="content">
${html}
<p class="turn">${turn.join(" ")}</p>
</main>
</body>
</html>
`;
}

function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folder = resolve(process.argv[2] ?? join(root, ".cache/site"));
  const written = buildSite(folder);
  process.stdout.write(`${written.length} pages in ${relative(process.cwd(), folder) || folder}\n`);
}
