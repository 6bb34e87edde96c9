// Whether links of Markdown pages lead somewhere: files and anchors of the repository are looked up, other addresses
// only have to be well formed.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { readPage } from "./markdown.mjs";

const isElsewhere = /^[a-z][a-z0-9+.-]*:/i;

/**
 * What is wrong with a page's links, each as `file:line: reason`.
 * @param {string} root the repository
 * @param {string} file from there, with slashes
 * @returns {string[]}
 */
export function brokenLinks(root, file) {
  const page = readPage(readFileSync(join(root, file), "utf8"));
  return page.links.flatMap(({ target, line }) => {
    const reason = problemOf(root, file, page, target);
    return reason === undefined ? [] : [`${file}:${line}: ${reason}`];
  });
}

function problemOf(root, file, page, target) {
  if (isElsewhere.test(target)) return problemElsewhere(target);
  const [path, anchor] = partsOf(target);
  if (path.startsWith("/")) return `${target} is a path of the machine, not of the repository`;
  const found = path === "" ? file : posix.join(posix.dirname(file), path);
  if (found.startsWith("..")) return `${target} leads out of the repository`;
  if (!existsSync(join(root, found))) return `${target}: there is no ${found}`;
  if (anchor === undefined) return undefined;
  if (!found.endsWith(".md")) return `${target}: only pages have headings`;
  const { headings } = found === file ? page : readPage(readFileSync(join(root, found), "utf8"));
  return headings.some((heading) => heading.anchor === anchor)
    ? undefined
    : `${target}: ${found} has no heading #${anchor}`;
}

function problemElsewhere(target) {
  if (!URL.canParse(target)) return `${target} is no address`;
  const { protocol, hostname } = new URL(target);
  if (protocol === "https:" && hostname.includes(".")) return undefined;
  if (protocol === "http:" && hostname === "127.0.0.1") return undefined;
  return `${target}: only https addresses and the gateway on this machine are linked`;
}

/** The path and the anchor, decoded. */
export function partsOf(target) {
  const [path = "", anchor] = target.split("#");
  return [decodeURIComponent(path), anchor === undefined ? undefined : decodeURIComponent(anchor)];
}
