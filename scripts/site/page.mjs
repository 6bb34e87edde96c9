// A page of the site around its text: navigation, contents, and the pages before and after. Menu and contents fold
// where there is no room for them, which needs no script.
import { posix } from "node:path";
import { siteMap } from "./site-map.mjs";

const pages = siteMap.flatMap(({ pages: some }) => some);
const policy = [
  "default-src 'none'",
  ...["style-src", "script-src", "img-src"].map((kind) => `${kind} 'self'`),
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** README becomes the first page; everything else keeps its place, so that relative links stay true. */
export function outputOf(file) {
  return file === "README.md" ? "index.html" : file.replace(/\.md$/, ".html");
}

/** @typedef {readonly { level: number, text: string, anchor: string }[]} Headings */

/**
 * The whole page.
 * @param {{ file: string, title: string, html: string, headings: Headings }} page
 */
export function wholePage({ file, title, html, headings }) {
  const beside = (name) => posix.relative(posix.dirname(file), name);
  const to = (other) => beside(outputOf(other));
  const contents = contentsOf(headings);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeText(title === "Toolyard" ? title : `${title} · Toolyard`)}</title>
<link rel="icon" type="image/svg+xml" href="${beside("icon.svg")}">
<link rel="stylesheet" href="${beside("site.css")}">
<script src="${beside("site.js")}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="bar">
<a class="home" href="${to("README.md")}">Toolyard</a>
<button type="button" class="fold" popovertarget="pages">Menu</button>
${contents === "" ? "" : '<button type="button" class="fold" popovertarget="contents">Contents</button>'}
</header>
<nav id="pages" popover aria-label="Pages">
${siteMap.map((group) => groupOf(group, file, to)).join("\n")}
</nav>
<main id="content">
${html}
<nav class="turn" aria-label="Next and previous page">${turnsOf(file, to)}</nav>
</main>
${contents === "" ? "" : `<nav id="contents" popover aria-labelledby="contents-title">\n<p id="contents-title">On this page</p>\n${contents}\n</nav>`}
</body>
</html>
`;
}

/** The group of the page that is shown is unfolded. */
function groupOf({ title, pages: some }, file, to) {
  const items = some.map(([name, label]) => {
    const mark = name === file ? ' aria-current="page"' : "";
    return `<li><a href="${to(name)}"${mark}>${escapeText(label)}</a></li>`;
  });
  const open = some.some(([name]) => name === file) ? " open" : "";
  return `<details${open}><summary>${escapeText(title)}</summary>\n<ul>\n${items.join("\n")}\n</ul>\n</details>`;
}

/** Headings of the second and third level; a page with few of them needs no contents. */
function contentsOf(headings) {
  const listed = headings.filter(({ level }) => level === 2 || level === 3);
  if (listed.length < 2) return "";
  const items = listed.map(
    ({ level, text, anchor }) => `<li class="level-${level}"><a href="#${anchor}">${escapeText(text)}</a></li>`,
  );
  return `<ul>\n${items.join("\n")}\n</ul>`;
}

function turnsOf(file, to) {
  const index = pages.findIndex(([name]) => name === file);
  const [before, after] = [pages[index - 1], pages[index + 1]];
  return [
    before === undefined ? "" : `<a rel="prev" href="${to(before[0])}">← ${escapeText(before[1])}</a>`,
    after === undefined ? "" : `<a rel="next" href="${to(after[0])}">${escapeText(after[1])} →</a>`,
  ].join("");
}

function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
