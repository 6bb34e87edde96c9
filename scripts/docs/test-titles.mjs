// The titles of all tests, read from the files: what holds a requirement is named by its title.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const call = /\b(?:test|it)(?:\.\w+)?(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1).)*)\1\s*,/gs;

/**
 * @param {string} root the project's directory
 * @returns {{ file: string, title: string }[]} in the order of the files
 */
export function testTitles(root) {
  const files = ["src", "test", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.test\.m?ts$|\.test\.mjs$/.test(file))
      .map((file) => `${folder}/${file.replaceAll("\\", "/")}`),
  );
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(call)].map(([, , title]) => ({ file, title: title.replaceAll(/\\(.)/g, "$1") }));
  });
}
