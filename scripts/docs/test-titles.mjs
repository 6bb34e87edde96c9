// The titles of all tests, read from the files: what holds a requirement is named by its title.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Also `test.each<Row>`. */
const testHead = /\b(?:test|it)(?:\.(?:each|skipIf|runIf|fails|concurrent)\b(?:<[^(;]*>)?)?/g;
const groupHead = /\bdescribe(?:\.(?:each|skipIf|runIf)\b(?:<[^(;]*>)?)?/g;
const title = /^\s*(["'`])((?:\\.|(?!\1).)*)\1\s*,/s;

/**
 * @param {string} root the project's directory
 * @returns {{ file: string, title: string }[]} in the order of the files
 */
export function testTitles(root) {
  return titlesAfter(testHead, root);
}

/**
 * The titles of all groups of tests (`describe`).
 * @param {string} root the project's directory
 * @returns {{ file: string, title: string }[]} in the order of the files
 */
export function groupTitles(root) {
  return titlesAfter(groupHead, root);
}

/**
 * Whether a test is the one that is meant by its title, by the beginning of it, or by `file: title` where the title
 * says nothing alone.
 * @param {{ file: string, title: string }} test
 * @param {string} name
 * @returns {boolean}
 */
export function isNamed(test, name) {
  const [, file, title] = /^(\S+\.test\.ts): (.*)$/s.exec(name) ?? [];
  return file === undefined ? test.title.startsWith(name) : test.file === file && test.title === title;
}

function titlesAfter(head, root) {
  const files = ["src", "test", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.test\.m?ts$|\.test\.mjs$/.test(file))
      .map((file) => `${folder}/${file.replaceAll("\\", "/")}`),
  );
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(head)].flatMap(({ 0: word, index }) => {
      const found = titleAt(text, index + word.length);
      return found === undefined ? [] : [{ file, title: found }];
    });
  });
}

/** The title in the last of the brackets that follow: `test.each(table)("title", ...)`. */
function titleAt(text, start) {
  if (text[start] !== "(") return undefined;
  const plain = title.exec(text.slice(start + 1));
  if (plain !== null) return plain[2].replaceAll(/\\(.)/g, "$1");
  const end = closingBracket(text, start);
  return text[end + 1] === "(" ? titleAt(text, end + 1) : undefined;
}

function closingBracket(text, open) {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const quote = /["'`]/.test(text[at]) ? text[at] : undefined;
    if (quote !== undefined)
      for (at += 1; at < text.length && text[at] !== quote; at += 1) if (text[at] === "\\") at += 1;
    if (text[at] === "(") depth += 1;
    if (text[at] === ")" && (depth -= 1) === 0) return at;
  }
  return text.length;
}
