import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const fromRoot = /`((?:src|web|test|bench|scripts|docs|examples)\/[\w./-]*)`/g;
/** Where the rooms are explained their files are named without `src/`. */
const fromSource = /`((?!(?:web|test|bench|scripts)\/)[\w-]+\/[\w./-]+\.ts)`/g;

test.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", ...pagesIn("docs"), ...pagesIn("examples")])(
  "every file and folder of the repository that %s names is there",
  (page) => {
    const text = readFileSync(`${root}${page}`, "utf8");
    const named = [
      ...[...text.matchAll(fromRoot)].map(([, path = ""]) => path),
      ...[...text.matchAll(fromSource)].map(([, path = ""]) => (path.startsWith("src/") ? path : `src/${path}`)),
    ];
    expect(named.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
  },
);

function pagesIn(folder: string): readonly string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}
